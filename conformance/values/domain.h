// How a family of values fills a tensor. Each family has a file of its own and registers itself.
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
  std::vector<size_t> parameter_counts;  ///< the numbers of parameters that it accepts; empty: any number
  /// Writes element i of stream `key` at position i of `out`, a contiguous CPU tensor of any supported
  /// dtype.
  void (*fill)(const std::vector<double>& parameters, uint64_t key, const at::Tensor& out);
  bool ordinary = true;  ///< its values are numbers at which operators have derivatives
  /// Whether the dtype has any of the values, as uint8 has none from -2 to -1. Null: every dtype has.
  bool (*exists)(const std::vector<double>& parameters, c10::ScalarType dtype) = nullptr;
};

/// The family that `domain` names. Throws SpecError if there is none, or if it takes another number of
/// parameters.
const DomainFamily& find_family(const Domain& domain);

/// A contiguous CPU tensor of `domain`'s values, with the same bits on every machine. Throws SpecError if
/// the dtype cannot hold the values.
at::Tensor make_values(const Domain& domain, uint64_t key, at::IntArrayRef sizes, c10::ScalarType dtype);

/// Whether the dtype has any of the domain's values. Throws SpecError as find_family does.
bool can_hold_values(const Domain& domain, c10::ScalarType dtype);

}  // namespace opgate

#define OPGATE_REGISTER_DOMAIN(identifier, ...)                \
  [[maybe_unused]] static const bool identifier##_registered = \
      ::opgate::Registry<::opgate::DomainFamily>::instance().add(__VA_ARGS__)
