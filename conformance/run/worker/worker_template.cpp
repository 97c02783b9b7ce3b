#include "run/worker/worker_template.h"

#include <fmt/format.h>
#include <unistd.h>

#include "judging/verdict.h"

namespace opgate {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

// Another process can open the same end of a pipe by this name.
std::string name_of(const Descriptor& descriptor) {
  return fmt::format("/proc/{}/fd/{}", getpid(), descriptor.get());
}

}  // namespace

std::unique_ptr<Child> WorkerTemplate::fork(const std::filesystem::path& log,
                                            const std::vector<std::string>& checks, int mutant) {
  if (!process_.runs()) process_.start();
  read_answers();
  if (!process_.is_ready()) {
    request_.reset();
    return nullptr;
  }
  if (!request_) {
    adopt_orphans();
    request_ = std::make_unique<Request>(Request{log, size_of_log(log), steady_clock::now() + kStartLimit});
    process_.send(json{{"fork",
                        {{"commands", name_of(request_->pipes.child_commands)},
                         {"answers", name_of(request_->pipes.child_answers)},
                         {"log", log.string()},
                         {"checks", checks},
                         {"mutant", mutant}}}});
    return nullptr;
  }
  if (request_->log != log || !request_->answer) return nullptr;
  const std::unique_ptr<Request> request = std::move(request_);
  if (const auto pid = request->answer->find("forked"); pid != request->answer->end())
    return std::make_unique<Child>(pid->get<pid_t>(), std::move(request->pipes), log, request->log_begin);
  can_fork_ = false;
  return nullptr;
}

void WorkerTemplate::read_answers() {
  const auto [answers, open] = process_.receive_within({});
  for (const std::string& line : answers) {
    json answer = json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!answer.is_object() || !request_ || request_->answer)
      return lose(process_.end(Verdict::crash, fmt::format("it answered '{}'", line)));
    request_->answer = std::move(answer);
  }
  if (!open) return lose(process_.end(Verdict::crash));
  process_.check_start();
  if (request_ && !request_->answer && steady_clock::now() >= request_->deadline)
    lose(process_.end_late(kStartLimit));
}

// A process that ends between two requests is started again when it is needed.
void WorkerTemplate::lose(const std::optional<Judgement>& lost) {
  if (lost && request_ && !request_->answer) process_.note_failed_start(*lost);
}

}  // namespace opgate
