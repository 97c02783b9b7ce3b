// The path "eager": the operator, boxed, through the dispatcher, from the top.
#include "call/path.h"

namespace opgate::eager {
namespace {

Observation run(Evidence& evidence) { return observe(evidence.key(), evidence.bench().values); }

OPGATE_REGISTER_PATH(eager, {"eager", &run});

}  // namespace
}  // namespace opgate::eager
