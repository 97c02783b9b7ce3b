#include "run/python_template.h"

#include <fmt/format.h>
#include <unistd.h>

namespace opgate {
namespace {

// Another process can open the same end of a pipe by this name.
std::string name_of(const Descriptor& descriptor) {
  return fmt::format("/proc/{}/fd/{}", getpid(), descriptor.get());
}

}  // namespace

std::unique_ptr<Child> PythonTemplate::fork(const std::filesystem::path& log,
                                            const std::vector<std::string>& checks) {
  if (!process_.tend()) {
    request_.reset();
    return nullptr;
  }
  if (!request_) {
    adopt_orphans();
    request_ = std::make_unique<Request>(Request{log, size_of_log(log)});
    process_.request({{"fork",
                       {{"commands", name_of(request_->pipes.child_commands)},
                        {"answers", name_of(request_->pipes.child_answers)},
                        {"log", log.string()},
                        {"checks", checks}}}},
                     [this](const nlohmann::json& answer) { request_->answer = answer; });
    return nullptr;
  }
  if (request_->log != log || !request_->answer) return nullptr;
  const std::unique_ptr<Request> request = std::move(request_);
  if (const auto pid = request->answer->find("forked"); pid != request->answer->end())
    return std::make_unique<Child>(pid->get<pid_t>(), std::move(request->pipes), log, request->log_begin);
  can_fork_ = false;
  return nullptr;
}

}  // namespace opgate
