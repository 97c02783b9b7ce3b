// The path "eager": the operator, boxed, through the dispatcher, from the top.
#include "call/path.h"

namespace opgate {
namespace {

Observation run(Evidence& evidence) {
  Arguments arguments = materialise(evidence.key(), evidence.bench().values);
  Outcome outcome = invoke(evidence.op(), arguments.stack, evidence.key().device);
  return {std::move(arguments), std::move(outcome)};
}

OPGATE_REGISTER_PATH(eager, {"eager", &run});

}  // namespace
}  // namespace opgate
