#include "runtime/findings/errors.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "runtime/devices/settings.h"
#include "runtime/findings/report.h"
#include "runtime/memory/host_fault.h"

namespace opgate::simulator {
namespace error_state {

thread_local cudaError_t last = cudaSuccess;
std::atomic<cudaError_t> sticky{cudaSuccess};
std::atomic<bool> untold{false};  // no function has failed with the sticky error yet

// Never destroyed: libraries call the runtime while the process ends.
struct Texts {
  std::mutex mutex;
  Finding fault;  // that made the error sticky
  std::string unsupported;
  std::string refused_in_capture;
};

Texts& texts() {
  static auto* const only = new Texts;
  return *only;
}

std::string is_not_simulated(const std::string& what) { return what + " is not simulated"; }

}  // namespace error_state

void refuse(cudaError_t code) { throw Refusal(code); }

void refuse(cudaError_t code, const std::string& why) {
  if (code == cudaErrorNotSupported)
    errors::note_unsupported(why);
  else
    report({.kind = Finding::Kind::memory, .message = why, .error = error_name(code)});
  throw Refusal(code, true);
}

namespace errors {

void report_refusal(const char* function, const Refusal& refusal) {
  if (refusal.code() == cudaErrorStreamCaptureUnsupported ||
      refusal.code() == cudaErrorStreamCaptureImplicit) {
    const std::lock_guard lock(error_state::texts().mutex);
    if (error_state::texts().refused_in_capture.empty()) error_state::texts().refused_in_capture = function;
  }
  if (!has_report_file() || refusal.told()) return;
  switch (refusal.code()) {
    case cudaErrorNotReady:                  // the answer of a query
    case cudaErrorMemoryAllocation:          // torch frees what it has cached, and tries again
    case cudaErrorPeerAccessAlreadyEnabled:  // libraries enable it without asking first
    case cudaErrorNotSupported:              // reported as such
      return;
    default:
      break;
  }
  std::string text = std::string(function) + " fails: " + error_text(refusal.code());
  if (!refusal.subject().empty()) text += ", " + refusal.subject();
  report({.kind = Finding::Kind::api, .message = text, .error = error_name(refusal.code())});
}

std::string take_refused_in_capture() {
  const std::lock_guard lock(error_state::texts().mutex);
  return std::exchange(error_state::texts().refused_in_capture, {});
}

// Libraries that poll for an event, as those in AOTInductor packages do, leave cudaErrorNotReady where a
// device is slower than most. The next check of a launch would blame it on the operator.
cudaError_t keep(cudaError_t code) {
  if (code != cudaSuccess && code != cudaErrorNotReady) error_state::last = code;
  if (code != cudaSuccess && code == error_state::sticky) error_state::untold = false;
  return code;
}

cudaError_t keep_fault(cudaError_t code) { return settings().recover ? code : keep(code); }

cudaError_t peek() { return error_state::untold ? sticky() : error_state::last; }

// A device that has failed fails each later function, but the last error is reported once for each of them.
cudaError_t take() {
  const cudaError_t last = std::exchange(error_state::last, cudaSuccess);
  if (!error_state::untold.exchange(false) && !settings().recover) return last;
  const cudaError_t fault = told_sticky();
  return fault != cudaSuccess ? fault : last;
}

void set_sticky(cudaError_t code, Finding fault) {
  fault.error = error_name(code);
  if (fault.kind == Finding::Kind::unsupported) {
    report_unsupported(fault.message + " (kernel " + fault.kernel + ", " + fault.place.location + ")");
    fault.message = error_state::is_not_simulated(fault.message);
  } else if (!fault.message.empty()) {
    report(fault);
  }
  cudaError_t none = cudaSuccess;
  if (!error_state::sticky.compare_exchange_strong(none, code)) return;
  error_state::untold = true;
  const std::lock_guard lock(error_state::texts().mutex);
  error_state::texts().fault = std::move(fault);
}

void set_sticky(cudaError_t code, const std::string& why) {
  set_sticky(code, {.kind = Finding::Kind::memory, .message = why});
}

cudaError_t sticky() { return error_state::sticky; }

cudaError_t told_sticky() {
  return settings().recover ? error_state::sticky.exchange(cudaSuccess) : error_state::sticky.load();
}

void note_unsupported(const std::string& what) {
  report_unsupported(what);
  const std::lock_guard lock(error_state::texts().mutex);
  error_state::texts().unsupported = what;
}

std::pair<cudaError_t, Finding> take_failure() {
  std::optional<Finding> of_host = take_host_fault();
  const std::lock_guard lock(error_state::texts().mutex);
  const cudaError_t error = error_state::sticky.exchange(cudaSuccess);
  Finding fault = std::exchange(error_state::texts().fault, {});
  const std::string unsupported = std::exchange(error_state::texts().unsupported, {});
  if (!unsupported.empty()) fault.kind = Finding::Kind::unsupported;
  if (fault.message.empty() && !unsupported.empty())
    fault.message = error_state::is_not_simulated(unsupported);
  error_state::last = cudaSuccess;
  if (!of_host) return {error, fault};
  // Whatever else has happened, a process with a GPU would not have come to it.
  report(*of_host);
  of_host->message += ", of which a process with a GPU dies";
  return {cudaErrorIllegalAddress, *of_host};
}

}  // namespace errors
}  // namespace opgate::simulator
