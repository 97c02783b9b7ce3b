// aoti.cpp: the AOTInductor package, run in a C++ process without Python, equals eager.
#include <algorithm>

#include "judging/check.h"
#include "judging/comparison/compiled_agreement.h"
#include "judging/comparison/output_judgement.h"
#include "packages/package_folder.h"
#include "spec/spec.h"

namespace opgate::aoti_cpp {
namespace {

// The package's record of the call. The package must hold it.
const PackagedCall& packaged_call_of(CallUnderTest& under_test) {
  const std::string id = call_id(under_test.key());
  const auto& calls = under_test.packages().package_of(under_test.key().device, id).calls();
  return *std::ranges::find(calls, id, &PackagedCall::id);
}

// A package whose operator has changed its schema is not run: the generated code calls the old one.
std::optional<Finding> other_library(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  Package& package = under_test.packages().package_of(key.device, call_id(key));
  const auto changes = package.changed_schemas(key.spec->kind == Spec::Kind::op ? key.spec->name : "");
  if (changes.empty()) return std::nullopt;
  return Finding{"the package runs with the library it was compiled against",
                 changes.front().in_words(),
                 "compile the package again, or keep the old schema and add an overload",
                 {},
                 {changes.front().in_words()}};
}

// A model has no eager form without Python. The package knows what eager Python returned: by digest, and the
// values, too, if the compiler generated code that rounds in its own way.
Judgement judge_model(CallUnderTest& under_test, const Outcome& packaged, const std::string& promised) {
  const PackagedCall& call = packaged_call_of(under_test);
  if (call.eager == digest(packaged.returned())) return Judgement::pass();
  if (call.eager_results.empty())
    return Judgement::fail({promised, "the digest of the outputs differs from that of eager Python"});
  return judge_values(packaged.returned(), call.eager_results,
                      agreement_of_compiled(under_test.key(), call.eager_results), promised);
}

Judgement judge(CallUnderTest& under_test) {
  const std::string promised = "the package, run in C++ without Python, returns eager's values";
  try {
    if (auto finding = other_library(under_test)) return Judgement::fail(*std::move(finding));
  } catch (const SetupError& error) {  // no package holds the call, or it cannot be loaded
    return judge_missing_package(under_test, promised, error.what());
  }
  const Outcome& packaged = under_test.packaged();
  if (!packaged.ok()) return judge_missing_package(under_test, promised, packaged.raised->message);
  if (under_test.key().spec->kind == Spec::Kind::op) {
    if (auto refused = refused_sample(under_test)) return *std::move(refused);
    Outcome eager;
    for (const at::Tensor& result : under_test.observed().outcome.returned())
      eager.results.emplace_back(result);
    // A package draws from the generator in an order of its own.
    if (under_test.promised(Promise::nondeterministic_seeded)) return judge_shapes(packaged, eager, promised);
    // The compiler generated code for each of the pieces, which rounds in its own way.
    if (packaged_call_of(under_test).in_pieces)
      return judge_same(under_test, packaged, eager, /*bits=*/false, promised);
    return judge_values(packaged.returned(), eager.returned(), {}, promised);
  }
  return judge_model(under_test, packaged, promised);
}

OPGATE_REGISTER_CHECK(aoti_cpp, {.name = "aoti.cpp",
                                 .worker = Worker::aoti,
                                 .scope = {.ops = true,
                                           .models = true,
                                           .variants = Scope::Variants::packaged,
                                           .sweep = Scope::Sweep::one_at_a_time,
                                           .in_cpp = true,
                                           .over_torch = false},
                                 .needs_package = true,
                                 .needs_fake = true,
                                 .judge = &judge});

}  // namespace
}  // namespace opgate::aoti_cpp
