// Which case is to blame for a worker that died or hung.
#pragma once

#include "run/work_queue.h"

#include "judging/verdict.h"

namespace opgate {

/// Each of these checks is run again alone.
struct Job::Suspects {
  Judgement lost;  ///< of the worker
  size_t unheard;  ///< checks without an answer yet
  bool found = false;
};

/// For a job during which the worker was lost, with the verdict on that. A call with one check gets the
/// verdict. With several checks it may be any; and a call that did not end in time may do so when it is tried
/// again: each check of such a call is put back into the queue alone, before everything else that waits.
void blame(const Job& job, const Judgement& lost, Queue& queue, RunListener& listener);

/// The judgement of a check that a worker has answered. If the job is one of the suspects of a lost worker,
/// and the last of them, it notes that the worker was not lost again; a crash is then still reported.
Judgement with_suspicion(const Job& job, Judgement answered);

}  // namespace opgate
