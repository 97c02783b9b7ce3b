#include "run/worker.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "call/device.h"
#include "run/child.h"
#include "run/protocol.h"
#include "run/subjects.h"

namespace opgate {
namespace {

using nlohmann::json;

void answer(const json& message) {
  const std::string text = message.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t count = write(kAnswerDescriptor, text.data() + sent, text.size() - sent);
    if (count < 0) _exit(1);  // the supervisor is gone
    sent += static_cast<size_t>(count);
  }
}

class NativeWorker {
 public:
  explicit NativeWorker(const Setup& setup) : subjects_(load_subjects(setup)), checks_(native_checks()) {
    bench_.package_folder = setup.packages;
  }

  json run(const json& command) {
    const std::string call = command.at("run");
    const CallKey key = parse_call_id(subjects_, call);
    if (key.device != enabled_) enable_device(enabled_ = key.device);
    std::vector<const Check*> checks;
    for (const json& id : command.at("checks")) checks.push_back(&find_check(checks_, id.get<std::string>()));
    const auto judgements = judge_call(key, checks, bench_);
    if (is_lost(key.device)) {
      std::cerr << "the CUDA context of this process is lost after this call\n";
      _exit(1);  // without an answer: this call is the one to blame, the next ones get a fresh process
    }
    return {{"ran", call}, {"judgements", judgements}};
  }

 private:
  std::vector<Spec> subjects_;
  std::vector<Check> checks_;
  Workbench bench_;
  c10::DeviceType enabled_ = c10::kCPU;
};

}  // namespace

std::map<std::string, Judgement> judge_call(const CallKey& key, const std::vector<const Check*>& checks,
                                            Workbench& bench) {
  std::map<std::string, Judgement> judgements;
  Evidence evidence(key, bench);
  for (const Check* check : checks) {
    try {
      judgements[check->name] = check->judge(evidence);
    } catch (const SetupError& error) {
      judgements[check->name] = Judgement::invalid(error.what());
    } catch (const c10::Error& error) {
      judgements[check->name] =
          Judgement::invalid(std::string("OpGate itself failed: ") + error.what_without_backtrace());
    } catch (const std::exception& error) {  // a fault of a judge must not cost the other cases their verdict
      judgements[check->name] = Judgement::invalid(std::string("OpGate itself failed: ") + error.what());
    }
  }
  return judgements;
}

int serve_as_worker() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string line;
  if (!std::getline(std::cin, line)) return 2;
  try {
    NativeWorker worker(json::parse(line).at("setup").get<Setup>());
    answer({{"ready", json::object()}});
    while (std::getline(std::cin, line)) answer(worker.run(json::parse(line)));
    return 0;
  } catch (const SetupError& error) {
    answer({{"broken", error.what()}});
    return 2;
  }
}

}  // namespace opgate
