#include "run/worker/worker_client.h"

#include <fmt/format.h>
#include <opgate/error.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "judging/verdict.h"
#include "run/blame.h"
#include "run/worker/worker_template.h"

namespace opgate {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kWorthTelling{3};

json names(const CheckList& checks) {
  json list = json::array();
  for (const Check* check : checks) list.push_back(check->name);
  return list;
}

// Recognizes {"ran":5}, the answer to nearly every call, without the cost of a JSON parser.
bool says_all_pass(std::string_view line, Calls::Position call) {
  constexpr std::string_view kBegin = R"({"ran":)";
  if (!line.starts_with(kBegin)) return false;
  line.remove_prefix(kBegin.size());
  Calls::Position ran = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), ran);
  return error == std::errc() && ran == call && std::string_view(end, line.data() + line.size()) == "}";
}

// An answer that no job in flight asked for: the process that was to judge the operator does something else.
class OutOfStep : public std::exception {};

}  // namespace

WorkerClient::WorkerClient(WorkerProgram program, Work work, std::optional<ForkedFrom> forked_from)
    : work_(std::move(work)),
      forked_from_(std::move(forked_from)),
      process_(std::move(program)),
      jobs_(process_),
      queue_(work_.queues.front()) {}

// Without a process afterwards: it is being forked.
void WorkerClient::start() {
  jobs_.narrow();
  if (began_ == std::chrono::steady_clock::time_point()) begin_to("");
  if (forked_from_ && forked_from_->process->can_fork()) {
    if (auto child = forked_from_->process->fork(process_.program().log, forked_from_->checks,
                                                 process_.program().setup.mutant))
      return process_.adopt(std::move(child));
    if (forked_from_->process->can_fork()) return;
  }
  process_.start();
}

int WorkerClient::answers() const {
  if (process_.runs() || !forked_from_) return process_.answers();
  return forked_from_->process->answers();  // feed() reads that the worker has been forked
}

bool WorkerClient::finished() {
  if (!jobs_.empty() || !queue_->empty()) return false;
  const auto next = std::ranges::find_if(work_.queues, [](Queue* queue) { return !queue->empty(); });
  if (next == work_.queues.end()) return true;
  queue_ = *next;
  return false;
}

void WorkerClient::feed() {
  if (finished()) return;
  if (!process_.runs()) start();
  const size_t most = jobs_.most(queue_->left() / (2 * work_.sharers));
  if (!process_.is_ready() || jobs_.size() > most / 2) return;
  json positions = json::array();
  const auto send_positions = [&] {
    if (!positions.empty()) process_.send(json{{"run", std::exchange(positions, json::array())}});
  };
  while (jobs_.size() < most) {
    std::optional<Job> job = queue_->next();
    if (!job) break;
    if (job->call && job->every_check && process_.kind() != Worker::python) {
      positions.push_back(*job->call);
    } else {
      send_positions();
      process_.send(command_of(*job));
    }
    if (jobs_.empty()) begin_to("");
    jobs_.add(*std::move(job));
  }
  send_positions();
}

json WorkerClient::command_of(const Job& job) const {
  if (!job.call) return job.preparation;
  const json run =
      process_.kind() == Worker::python ? json(queue_->calls().id(*job.call)) : json::array({*job.call});
  return {{"run", run}, {"checks", names(job.checks)}};
}

void WorkerClient::receive() {
  if (!process_.runs()) return;
  const auto [answers, open] = process_.receive();
  const double seconds = jobs_.keep_pace(answers.size());
  for (const std::string& line : answers) {
    const std::string answered = fmt::format("it answered '{}'", line);
    try {
      take(line, seconds);
    } catch (const json::exception&) {  // the operator wrote to the worker's answer descriptor
      return lose(process_.end(Verdict::crash, answered));
    } catch (const std::invalid_argument&) {  // a verdict that does not exist
      return lose(process_.end(Verdict::crash, answered));
    } catch (const OutOfStep&) {
      return lose(process_.end(Verdict::crash, answered + ", which is not what it was asked"));
    }
  }
  if (!open) lose(process_.end(Verdict::crash));
}

void WorkerClient::take(const std::string& line, double seconds) {
  if (!jobs_.empty() && jobs_.first().call && says_all_pass(line, *jobs_.first().call))
    return take_verdicts({}, seconds);
  const json message = json::parse(line);
  if (const auto broken = broken_setup(message)) throw SetupError(*broken);
  if (message.contains("doing")) {
    begin_to(message.at("doing").get<std::string>());
    return;
  }
  if (jobs_.empty() || !answers_job(message, jobs_.first())) throw OutOfStep();
  take_verdicts(message, seconds);
}

// Each answer names the call or the preparation that it is for.
bool WorkerClient::answers_job(const json& message, const Job& job) const {
  if (!job.call)
    return message.contains("packaged") &&
           message.at("packaged") == job.preparation.begin()->value("device", "");
  if (!message.contains("ran")) return false;
  return message.at("ran") ==
         (process_.kind() == Worker::python ? json(queue_->calls().id(*job.call)) : json(*job.call));
}

// Takes the answer to the first job in flight.
void WorkerClient::take_verdicts(const json& message, double seconds) {
  // All judgements are read before any is given out: a damaged answer must not count for half of the
  // checks.
  std::vector<Judgement> judgements;
  const json none = json::object();
  const json& ulps = message.contains("ulps") ? message.at("ulps") : none;
  const json& told = message.contains("judgements") ? message.at("judgements") : none;
  for (const Check* check : jobs_.first().checks) {
    const bool in_full = process_.kind() == Worker::python || told.contains(check->name);
    judgements.push_back(in_full ? told.at(check->name).get<Judgement>()
                                 : Judgement::pass(ulps.value(check->name, 0.0)));
  }
  std::optional<CallFacts> facts;
  if (message.contains("facts")) facts = message.at("facts").get<CallFacts>();
  std::vector<int> reached;
  if (message.contains("reached")) message.at("reached").get_to(reached);
  const std::string refused = message.contains("refused") ? message.at("refused").get<std::string>() : "";
  if (message.contains("printed")) process_.forget_printed(message.at("printed").get<std::streamoff>());
  const Job job = jobs_.take_first();
  begin_to("");
  work_.listener.on_time(job, seconds);
  if (!job.call) return;
  queue_->answered(*job.call);
  if (facts) work_.listener.on_facts(queue_->calls().id(*job.call), *facts);
  if (!refused.empty()) work_.listener.on_refused(refused);
  if (message.contains("reached")) work_.listener.on_reached(*job.call, process_.kind(), reached);
  for (size_t i = 0; i < job.checks.size(); ++i) {
    const Judgement judgement = with_suspicion(job, std::move(judgements[i]));
    work_.listener.on_verdict({queue_->calls(), *job.call, *job.checks[i], judgement});
  }
}

void WorkerClient::check_deadline() {
  if (!process_.runs()) return;
  process_.check_start();
  if (jobs_.is_late()) lose(process_.end_late(jobs_.first().limit, jobs_.option_of_limit()));
}

// The process has ended. The first job in flight is the one that it was at; the others go back into the
// queue.
void WorkerClient::lose(const std::optional<Judgement>& lost) {
  begin_to("");
  if (jobs_.empty() || !lost) return;
  while (jobs_.size() > 1) queue_->put_back(jobs_.take_last());
  const double seconds = jobs_.seconds_of_first();
  const Job culprit = jobs_.take_first();
  work_.listener.on_time(culprit, seconds);
  if (!culprit.call) return work_.on_preparation_failed(culprit.preparation, *lost);
  queue_->died_on(*culprit.call, lost->reason);
  blame(culprit, *lost, *queue_, work_.listener);
}

void WorkerClient::begin_to(std::string what) {
  doing_ = std::move(what);
  began_ = std::chrono::steady_clock::now();
}

std::string WorkerClient::current() const {
  const std::string what = occupation();
  if (what.empty()) return "";
  const auto since =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began_);
  return since < kWorthTelling ? what : fmt::format("{} for {} s", what, since.count());
}

std::string WorkerClient::occupation() const {
  if (!process_.is_ready()) return fmt::format("a {} worker starts", to_string(process_.kind()));
  if (jobs_.empty()) return "";
  const Job& job = jobs_.first();
  if (!doing_.empty()) return doing_;
  if (job.call) return queue_->calls().id(*job.call);
  return fmt::format("{} for {}", job.preparation.begin().key(),
                     job.preparation.begin()->value("device", ""));
}

}  // namespace opgate
