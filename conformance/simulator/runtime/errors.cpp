#include "simulator/runtime/errors.h"

#include <atomic>

#include "simulator/runtime/report.h"

namespace opgate::simulator {
namespace error_state {

thread_local cudaError_t last = cudaSuccess;
std::atomic<cudaError_t> sticky{cudaSuccess};

}  // namespace error_state

void refuse(cudaError_t code) { throw Refusal(code); }

void refuse(cudaError_t code, const std::string& why) {
  report_finding(why + " (" + error_name(code) + ")");
  throw Refusal(code);
}

namespace errors {

cudaError_t keep(cudaError_t code) {
  if (code != cudaSuccess) error_state::last = code;
  return code;
}

cudaError_t peek() { return sticky() != cudaSuccess ? sticky() : error_state::last; }

cudaError_t take() {
  const cudaError_t code = peek();
  error_state::last = cudaSuccess;
  return code;
}

void set_sticky(cudaError_t code) {
  cudaError_t none = cudaSuccess;
  error_state::sticky.compare_exchange_strong(none, code);
}

cudaError_t sticky() { return error_state::sticky; }

}  // namespace errors
}  // namespace opgate::simulator
