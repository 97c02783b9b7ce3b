// How a family of values fills a tensor; one file a family, found by registration.
#pragma once

#include <ATen/core/Tensor.h>
#include <opgate/values.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/registry.h"

namespace opgate {

struct DomainFamily {
  std::string_view name;
  std::vector<size_t> parameter_counts;  ///< how many parameters it can be given; empty: any number
  /// Writes element i of stream `key` at position i of `out`, a contiguous CPU tensor of any supported dtype.
  void (*fill)(const std::vector<double>& parameters, uint64_t key, const at::Tensor& out);
  bool ordinary = true;  ///< numbers at which operators have derivatives
};

/// The family that `domain` names. Throws SpecError where there is none, or it takes other parameters.
const DomainFamily& find_family(const Domain& domain);

/// A contiguous CPU tensor of `domain`'s values: the same bits on every machine.
at::Tensor make_values(const Domain& domain, uint64_t key, at::IntArrayRef sizes, c10::ScalarType dtype);

}  // namespace opgate

#define OPGATE_REGISTER_DOMAIN(identifier, ...)                \
  [[maybe_unused]] static const bool identifier##_registered = \
      ::opgate::Registry<::opgate::DomainFamily>::instance().add(__VA_ARGS__)
