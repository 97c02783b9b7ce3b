#include "mutation/mutation_run.h"

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <memory>
#include <numeric>

#include "judging/verdict.h"
#include "mutation/worker_templates.h"
#include "process/mutants.h"
#include "run/worker/attend.h"

namespace opgate {
namespace {

constexpr std::array kKinds{Worker::native, Worker::python};

}  // namespace

// One mutant on its way: the kinds of workers judge it one after the other.
class MutationRun::Trial : public RunListener {
 public:
  Trial(MutationRun& run, const Mutant& mutant, const Choose& choose, const Setup& setup,
        WorkerTemplates& templates, size_t lane)
      : run_(run),
        choose_(choose),
        setup_(setup),
        templates_(templates),
        lane_(lane),
        todo_(run.plan_.calls) {
    result_.mutant = mutant;
    for (const bool simulated : {false, true}) {
      for (const Worker kind : kKinds) stages_.push_back({kind, simulated, run.effort_.native_calls});
    }
    // They take little time, unless they are simulated.
    stages_.push_back({Worker::native, /*simulated=*/false, SIZE_MAX});
    result_.reaching = run_.calls_that_reach(mutant.number);
    if (result_.reaching > 0) result_.fate = Fate::survived;
  }

  // Whether the mutant has its fate. Otherwise worker() is to be attended.
  bool finished() {
    while (!has_fate() && (worker_ == nullptr || worker_->finished())) {
      worker_.reset();
      if (stages_.empty()) return true;
      begin(stages_.front());
      stages_.erase(stages_.begin());
    }
    return has_fate();
  }

  WorkerClient& worker() { return *worker_; }
  MutantResult result() const {
    MutantResult result = result_;
    result.cases = judged_.size();
    return result;
  }
  size_t lane() const { return lane_; }

 private:
  void begin(const Stage& stage) {
    choose_(result_.mutant.number, stage, todo_);
    for (const auto& [call, check] : judged_) todo_.remove(call, *check);
    if (todo_.size() == 0) return;
    const Limits& limits = run_.config_.limits;
    const auto limit = stage.kind == Worker::python ? limits.python_case : limits.native_case;
    queue_ = std::make_unique<Queue>(stage.kind, stage.simulated, run_.plan_.calls, todo_, limit, 1, *this);
    WorkerProgram program =
        worker_program(run_.config_.programs, setup_, stage.kind, stage.simulated, lane_ + 1);
    program.setup.mutant = result_.mutant.number;
    WorkerClient::Work work{{queue_.get()}, 1, *this, [](const auto&, const auto&) {}};
    WorkerClient::ForkedFrom from{&templates_.of(stage.kind, stage.simulated), {}};
    worker_ = std::make_unique<WorkerClient>(std::move(program), std::move(work), std::move(from));
  }

  bool has_fate() const { return result_.fate == Fate::killed || result_.fate == Fate::refused; }

  void on_verdict(const JudgedCase& judged) override {
    const auto& [calls, call, check, judgement] = judged;
    if (!todo_.remove(call, check)) return;
    judged_.emplace_back(call, &check);
    if (!is_broken(judgement.verdict) || has_fate()) return;
    result_.fate = Fate::killed;
    result_.killer = judged.id();
    result_.how = to_string(judgement.verdict);
    result_.found = judgement.finding ? judgement.finding->happened : judgement.reason;
  }
  void on_refused(const std::string& why) override {
    if (has_fate()) return;
    result_.fate = Fate::refused;
    result_.because = why;
  }

  MutationRun& run_;
  const Choose& choose_;
  const Setup& setup_;
  WorkerTemplates& templates_;
  const size_t lane_;
  CaseSet todo_;
  std::vector<std::pair<Calls::Position, const Check*>> judged_;
  std::vector<Stage> stages_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<WorkerClient> worker_;
  MutantResult result_;
};

MutationRun::MutationRun(const WorkerConfig& config, PythonHalf& python, const Plan& plan,
                         const Filter& filter, const MutationEffort& effort)
    : config_(config), python_(python), plan_(plan), filter_(filter), effort_(effort), usable_(plan.calls) {
  for (Calls::Position call = 0; call < plan.calls.size(); ++call) {
    for (const Check* check : plan.calls.checks(call)) {
      if ((!check->slow || effort_.slow_checks) && may_judge(call, *check)) usable_.add(call, *check);
    }
  }
}

// A package of the operator would be compiled for each mutant, and a check that makes no calls runs none.
bool MutationRun::may_judge(Calls::Position call, const Check& check) const {
  if (check.needs_package || !check.needs_device) return false;
  return std::ranges::count(kKinds, plan_.calls.worker(call, check)) > 0;
}

// Notes what the calls reach without a mutant, and which cases do not pass then.
class MutationRun::Unmutated : public RunListener {
 public:
  explicit Unmutated(MutationRun& run) : broken(run.plan_.calls), run_(run) {}

  void on_verdict(const JudgedCase& judged) override {
    if (judged.judgement.verdict == Verdict::pass) return;
    run_.usable_.remove(judged.call, judged.check);
    if (is_broken(judged.judgement.verdict)) broken.add(judged.call, judged.check);
  }
  void on_reached(Calls::Position call, Worker kind, const std::vector<int>& mutants) override {
    run_.reached_.add(call, kind, mutants);
  }
  void on_progress(const std::vector<std::string>& /*current*/) override { progress(); }

  CaseSet broken;
  std::function<void()> progress;

 private:
  MutationRun& run_;
};

std::optional<std::vector<std::string>> MutationRun::find_reached(
    const std::function<void(size_t done, size_t all)>& progress) {
  CaseSet todo = usable_;
  const size_t all = todo.size();
  WorkerConfig reporting = config_;
  reporting.setup.mutant = kReportReached;
  const Supervisor supervisor(reporting, python_, plan_, filter_);
  Unmutated unmutated(*this);
  unmutated.progress = [&] { progress(all - todo.size(), all); };
  if (!supervisor.run(todo, effort_.jobs, unmutated)) return std::nullopt;
  // In the order of the plan: which worker is the first to find one depends on the machine.
  std::vector<std::string> ids;
  for (Calls::Position call = 0; call < plan_.calls.size(); ++call) {
    for (const Check* check : unmutated.broken.of(call)) ids.push_back(case_id(plan_.calls[call], *check));
  }
  return ids;
}

size_t MutationRun::calls_that_reach(int mutant) const {
  std::set<Calls::Position> calls;
  for (const Worker kind : kKinds) {
    for (const Calls::Position call : reached_.of(mutant, kind)) {
      if (!usable_.of(call).empty()) calls.insert(call);
    }
  }
  return calls.size();
}

void MutationRun::choose_cases(int mutant, const Stage& stage, CaseSet& todo) const {
  // Native checks of a call judge its result, which is made once, and take little time in any worker. Each
  // check of the Python half makes calls of its own.
  std::vector<Calls::Position> of_native_checks;
  std::map<const Check*, std::vector<Calls::Position>> of_python_checks;
  const auto [kind, simulated, most_native] = stage;
  for (const Calls::Position call : reached_.of(mutant, kind)) {
    if (plan_.calls.simulated(call) != simulated) continue;
    for (const Check* check : usable_.of(call)) {
      if (plan_.calls.worker(call, *check) != kind) continue;
      if (check->worker == Worker::python)
        of_python_checks[check].push_back(call);
      else if (of_native_checks.empty() || of_native_checks.back() != call)
        of_native_checks.push_back(call);
    }
  }
  for (const Calls::Position call : spread(plan_.calls, of_native_checks, most_native)) {
    for (const Check* check : usable_.of(call)) {
      if (plan_.calls.worker(call, *check) == kind && check->worker != Worker::python) todo.add(call, *check);
    }
  }
  for (const auto& [check, calls] : of_python_checks) {
    const size_t most = std::max<size_t>(1, effort_.python_cases / of_python_checks.size());
    for (const Calls::Position call : spread(plan_.calls, calls, most)) todo.add(call, *check);
  }
}

bool MutationRun::run(const std::vector<Mutant>& mutants, const OnResult& on_result) {
  const Choose choose = [this](int mutant, const Stage& stage, CaseSet& todo) {
    choose_cases(mutant, stage, todo);
  };
  return run(mutants, choose, on_result);
}

std::set<const Spec*> MutationRun::operators_that_reach(int mutant) const {
  std::set<const Spec*> specs;
  for (const Worker kind : kKinds) {
    for (const Calls::Position call : reached_.of(mutant, kind)) specs.insert(&plan_.calls.spec(call));
  }
  return specs;
}

bool MutationRun::ask_slow_checks(const std::vector<Mutant>& survivors, const OnResult& on_result) {
  if (effort_.slow_checks) return true;
  std::set<const Spec*> specs;
  for (const Mutant& mutant : survivors) specs.merge(operators_that_reach(mutant.number));
  CaseSet todo(plan_.calls);
  for (Calls::Position call = 0; call < plan_.calls.size(); ++call) {
    if (!specs.contains(&plan_.calls.spec(call))) continue;
    for (const Check* check : plan_.calls.checks(call)) {
      if (check->slow && may_judge(call, *check)) todo.add(call, *check);
    }
  }
  CaseSet passing = todo;
  const Supervisor supervisor(config_, python_, plan_, filter_);
  VerdictListener listener([&](const JudgedCase& judged) {
    if (judged.judgement.verdict != Verdict::pass) passing.remove(judged.call, judged.check);
  });
  if (!supervisor.run(todo, effort_.jobs, listener)) return false;
  const Choose choose = [&](int mutant, const Stage& stage, CaseSet& chosen) {
    const std::set<const Spec*> reaching = operators_that_reach(mutant);
    for (Calls::Position call = 0; call < plan_.calls.size(); ++call) {
      if (plan_.calls.simulated(call) != stage.simulated || !reaching.contains(&plan_.calls.spec(call)))
        continue;
      for (const Check* check : passing.of(call)) {
        if (plan_.calls.worker(call, *check) == stage.kind) chosen.add(call, *check);
      }
    }
  };
  return run(survivors, choose, on_result);
}

bool MutationRun::run(const std::vector<Mutant>& mutants, const Choose& choose, const OnResult& on_result) {
  Setup setup = config_.setup;
  setup.filter = filter_;
  setup.plan = plan_.digest();
  WorkerTemplates templates(config_.programs, setup, python_);
  std::list<Trial> trials;
  std::vector<size_t> lanes(effort_.jobs);
  std::iota(lanes.begin(), lanes.end(), size_t{0});
  auto next = mutants.begin();
  while (true) {
    std::vector<WorkerClient*> busy;
    for (auto trial = trials.begin(); trial != trials.end();) {
      if (!trial->finished()) {
        busy.push_back(&(trial++)->worker());
        continue;
      }
      on_result(trial->result());
      lanes.push_back(trial->lane());
      trial = trials.erase(trial);
    }
    if (next != mutants.end() && !lanes.empty()) {
      trials.emplace_back(*this, *next++, choose, setup, templates, lanes.back());
      lanes.pop_back();
      continue;
    }
    if (busy.empty()) break;
    if (!attend(busy)) return false;
  }
  templates.dismiss();
  return true;
}

}  // namespace opgate
