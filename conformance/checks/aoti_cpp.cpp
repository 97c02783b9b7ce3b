// aoti.cpp: the AOTInductor package, run in a C++ process without Python, equals eager.
#include <fmt/format.h>

#include "checks/check.h"
#include "checks/outputs.h"
#include "paths/package_folder.h"

namespace opgate {
namespace {

Judgement judge(Evidence& evidence) {
  const std::string promised = "the package, run in C++ without Python, returns eager's values bit for bit";
  const Outcome& packaged = evidence.by("aoti").outcome;
  if (!packaged.ok()) return Judgement::fail({promised, packaged.raised->message, "", {}});
  Package& package = evidence.bench().packages->package_of(evidence.key().device, call_id(evidence.key()));
  const bool is_op = evidence.key().spec->kind == Spec::Kind::op;
  if (const auto changes = package.changed_schemas(is_op ? evidence.key().spec->name : "");
      !changes.empty()) {
    return Judgement::fail({"the package runs with the library it was compiled against", changes.front(),
                            "compile the package again, or keep the old schema and add an overload",
                            changes});
  }
  if (is_op) {
    const Outcome& eager = evidence.observed().outcome;
    if (!eager.ok())
      return Judgement::invalid("the operator refuses this sample of its spec: " + eager.raised->message);
    return judge_values(packaged.returned(), eager.returned(), exact(), promised);
  }
  // A model has no eager form without Python: its outputs are known by digest.
  const std::string id = call_id(evidence.key());
  for (const PackagedCall& call : package.calls()) {
    if (call.id == id && call.eager == digest(packaged.returned())) return Judgement::pass();
  }
  return Judgement::fail({promised, "the digest of the outputs differs from that of eager Python", "", {}});
}

OPGATE_REGISTER_CHECK(
    aoti_cpp,
    {.name = "aoti.cpp",
     .explanation =
         {.promise =
              "The AOTInductor package, run in a C++ process that holds no Python, equals eager bit for bit.",
          .why =
              "This is how the operator is deployed. The package calls it by name and schema through the "
              "dispatcher, with inputs and buffers that the compiler laid out after the fake kernel's word.",
          .fix = "First make value.layout and fake.metadata pass: most differences here are one of these. If "
                 "the package cannot find the operator, load its library before the package. Compile it "
                 "again after a change of schema.",
          .example = "pytorch 148005, pytorch 180884; a package that was compiled against an older library."},
     .worker = Worker::aoti,
     .scope = {.ops = true, .models = true, .layouts = Scope::Layouts::packaged},
     .needs_package = true,
     .judge = &judge});

}  // namespace
}  // namespace opgate
