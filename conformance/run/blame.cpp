#include "run/blame.h"

namespace opgate {

void blame(const Job& job, const Judgement& lost, Queue& queue, RunListener& listener) {
  if (job.checks.size() == 1 && (job.suspects || lost.verdict != Verdict::timeout)) {
    if (job.suspects) {
      job.suspects->found = true;
      --job.suspects->unheard;
    }
    listener.on_verdict({queue.calls(), *job.call, *job.checks.front(), lost});
    return;
  }
  const auto suspects = std::make_shared<Job::Suspects>(Job::Suspects{lost, job.checks.size()});
  for (auto check = job.checks.rbegin(); check != job.checks.rend(); ++check)
    queue.put_back({.call = job.call, .checks = {*check}, .suspects = suspects, .limit = job.limit});
}

Judgement with_suspicion(const Job& job, Judgement answered) {
  if (!job.suspects || --job.suspects->unheard > 0 || job.suspects->found) return answered;
  Judgement lost = job.suspects->lost;
  if (lost.verdict != Verdict::timeout) {
    lost.add_remark("it did not happen again with each check of this call alone");
    return lost;
  }
  // A call that did not end in time and does so now may have been held up by something else.
  if (answered.verdict == Verdict::pass && answered.reason.empty())
    answered.reason = lost.reason + "; when it was tried again, it ended in time";
  return answered;
}

}  // namespace opgate
