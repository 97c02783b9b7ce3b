#include <ATen/core/function_schema.h>
#include <fmt/format.h>
#include <opgate/spec.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>

#include "base/dtypes.h"
#include "base/errors.h"
#include "spec/bench.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate {

std::optional<double> SpeedLimit::on(c10::DeviceType device) const {
  const auto found = by_device.find(device);
  return found == by_device.end() ? everywhere : found->second;
}

BenchWriter& BenchWriter::named(std::string name) {
  bench_.sample.name = std::move(name);
  return *this;
}

BenchWriter& BenchWriter::dtype(c10::ScalarType dtype) {
  bench_.dtype = dtype;
  return *this;
}

BenchWriter& BenchWriter::against(std::string op_name) {
  bench_.baseline = reference_by_name(op_name, bench_.sample.where);
  bench_.baseline_op = std::move(op_name);
  return *this;
}

BenchWriter& BenchWriter::against_function(Reference baseline) {
  bench_.baseline = std::move(baseline);
  bench_.baseline_op.clear();
  return *this;
}

double BenchWriter::checked(double ratio, const char* word) const {
  if (ratio > 0 && std::isfinite(ratio)) return ratio;
  throw spec_error(
      "{}: .{}({}): a speed limit is a ratio above 0, such as 0.95 for at least 0.95 times the "
      "baseline's speed",
      bench_.sample.where, word, ratio);
}

BenchWriter& BenchWriter::forward(double ratio) {
  bench_.forward.everywhere = checked(ratio, "forward");
  return *this;
}

BenchWriter& BenchWriter::forward(c10::DeviceType device, double ratio) {
  bench_.forward.by_device[device] = checked(ratio, "forward");
  return *this;
}

BenchWriter& BenchWriter::backward(double ratio) {
  bench_.backward.everywhere = checked(ratio, "backward");
  return *this;
}

BenchWriter& BenchWriter::backward(c10::DeviceType device, double ratio) {
  bench_.backward.by_device[device] = checked(ratio, "backward");
  return *this;
}

namespace {

bool accepts(const Spec& spec, c10::DeviceType device, c10::ScalarType dtype) {
  const auto found = spec.dtypes.find(device);
  return found != spec.dtypes.end() && std::ranges::find(found->second, dtype) != found->second.end();
}

void fit_bench(const Spec& spec, Bench& bench) {
  const auto wrong = [&](const std::string& what) {
    return spec_error("{}: bench '{}' of {} {}", bench.sample.where, bench.sample.name, spec.name, what);
  };
  fit_sample(bench.sample, spec.op->schema());
  if (!bench.baseline) {
    if (!spec.reference)
      throw wrong("has nothing to be compared with: add .against(...), or spec.reference(...)");
    bench.baseline = spec.reference;
    bench.baseline_op = spec.reference_op;
  }
  const auto accepting = [&](c10::DeviceType device) { return accepts(spec, device, bench.dtype); };
  if (std::ranges::none_of(std::views::keys(spec.dtypes), accepting)) {
    throw wrong(
        fmt::format("has dtype {}, which the spec accepts on no device: choose another with .dtype(...)",
                    dtype_name(bench.dtype)));
  }
  for (const SpeedLimit* limit : {&bench.forward, &bench.backward}) {
    for (const c10::DeviceType device : std::views::keys(limit->by_device)) {
      if (accepting(device)) continue;
      throw wrong(
          fmt::format("has a limit on {}, where the spec accepts no {}: it would never be measured; "
                      "remove the limit, or add the dtype to spec.dtypes(...)",
                      c10::DeviceTypeName(device, /*lower_case=*/true), dtype_name(bench.dtype)));
    }
  }
  if (!bench.backward.is_set()) return;
  if (!spec.promised(Promise::differentiable))
    throw wrong("has a limit for backward, but the spec does not promise `differentiable`: promise it");
  if (spec.op->schema().is_mutable())
    throw wrong(
        "has a limit for backward, but the operator writes to its arguments, which is not timed: remove "
        ".backward(...)");
}

}  // namespace

void fit_benches(Spec& spec) {
  std::set<std::string> names;
  for (Bench& bench : spec.benches) {
    if (!names.insert(bench.sample.name).second) {
      throw spec_error("{}: two benches of {} are named '{}'; name one with .named(\"...\")",
                       bench.sample.where, spec.name, bench.sample.name);
    }
    fit_bench(spec, bench);
  }
}

}  // namespace opgate
