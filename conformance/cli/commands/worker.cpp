// opgate worker: a worker process of `opgate run`; not for users.
#include "run/worker/worker.h"
#include "cli/commands/subcommand.h"

namespace opgate::worker {
namespace {

std::function<int()> declare(CommandLine& app) {
  app.hidden();
  return [] { return serve_as_worker(); };
}

OPGATE_REGISTER_SUBCOMMAND(worker, {"worker", &declare});

}  // namespace
}  // namespace opgate::worker
