#include "judging/calls/call_under_test.h"

#include "base/errors.h"
#include "call/meta_call.h"
#include "compare/widen.h"
#include "packages/package_folder.h"
#include "packages/packaged_call.h"
#include "process/default_generator.h"
#include "spec/spec.h"

namespace opgate {
namespace {

void make_absolute(torch::jit::Stack& stack) {
  for (c10::IValue& value : stack) value = widened(value, /*absolute=*/true);
}

}  // namespace

CallUnderTest::CallUnderTest(CallKey key, WorkerCache& cache) : key_(std::move(key)), cache_(cache) {}

const c10::OperatorHandle& CallUnderTest::op() const { return key_.spec->op.value(); }

bool CallUnderTest::promised(Promise promise) const { return key_.spec->promised(promise); }

const Observation& CallUnderTest::observed() {
  if (observed_ == nullptr) observed_ = std::make_shared<const Observation>(observe(key_, cache_.values));
  return *observed_;
}

const Observation* CallUnderTest::observed_with_gradients() {
  if (!key_.spec->promised(Promise::differentiable) || !observed().outcome.ok()) return nullptr;
  if (!with_gradients_) with_gradients_ = observe_with_gradients(key_, cache_.values);
  return &*with_gradients_;
}

const Outcome& CallUnderTest::fake() {
  if (!fake_) fake_ = call_on_meta(op(), observed().arguments);
  return *fake_;
}

const Outcome& CallUnderTest::packaged() {
  if (!packaged_) packaged_ = packaged_call(packages(), key_);
  return *packaged_;
}

PackageFolder& CallUnderTest::packages() {
  if (cache_.packages == nullptr) cache_.packages = std::make_shared<PackageFolder>(cache_.package_folder);
  return *cache_.packages;
}

const Observation& CallUnderTest::dense() {
  if (key_.is_contiguous()) return observed();
  if (dense_ != nullptr) return *dense_;
  // Layouts that only move the sample's values share one dense call.
  const bool shared = keeps_values(key_);
  CallKey contiguous = key_;
  contiguous.variant = kContiguous;
  const std::string id = call_id(contiguous);
  if (shared && cache_.dense_call == id) return *(dense_ = cache_.dense);
  dense_ = std::make_shared<const Observation>(observe(key_, cache_.values, {.contiguous = true}));
  if (shared) {
    cache_.dense_call = id;
    cache_.dense = dense_;
  }
  return *dense_;
}

const Observation& CallUnderTest::repoisoned(const Poison& poison) {
  for (const auto& [of_call, call] : repoisoned_) {
    if (of_call == poison) return call;
  }
  return repoisoned_.emplace_back(poison, observe(key_, cache_.values, {.take_snapshots = false}, poison))
      .second;
}

const Outcome& CallUnderTest::reference() {
  if (!reference_) reference_ = run_reference(key_.spec->reference, {});
  return *reference_;
}

Outcome CallUnderTest::reference(const MaterializeOptions& options) {
  return options.value_seed == 0 ? reference() : run_reference(key_.spec->reference, options);
}

Outcome CallUnderTest::scales(const MaterializeOptions& options) {
  const Reference& given = key_.spec->scale;
  const auto run = [&] {
    return given ? run_reference(given, options) : changed_reference(options, make_absolute);
  };
  if (options.value_seed != 0) return run();
  if (!scales_) scales_ = run();
  return *scales_;
}

Outcome CallUnderTest::changed_reference(const MaterializeOptions& options,
                                         const std::function<void(torch::jit::Stack&)>& change) {
  return run_reference(key_.spec->reference, options, change);
}

Outcome CallUnderTest::run_reference(const Reference& reference, MaterializeOptions options,
                                     const std::function<void(torch::jit::Stack&)>& change) {
  if (reference == nullptr)
    throw spec_error("{}: {} has no reference to compare with; add spec.reference(...)", key_.spec->where,
                     key_.spec->name);
  options.contiguous = true;
  options.take_snapshots = false;
  torch::jit::Stack stack = materialize(on_cpu(key_), cache_.values, options).stack;
  for (c10::IValue& value : stack) value = widened(value);
  if (change) change(stack);
  if (key_.spec->promised(Promise::nondeterministic_seeded)) seed_default_generator(c10::kCPU);
  return invoke(
      op(), [&](torch::jit::Stack& s) { reference(op(), s); }, std::move(stack), c10::kCPU);
}

}  // namespace opgate
