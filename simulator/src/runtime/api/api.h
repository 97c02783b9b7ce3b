// What every function of the CUDA runtime has in common: the lock, the errors, and that its symbol is
// exported.
#pragma once

#include <cuda_runtime_api.h>

#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

#include "runtime/devices/devices.h"
#include "runtime/devices/settings.h"
#include "runtime/devices/simulator.h"
#include "runtime/findings/errors.h"
#include "runtime/findings/report.h"
#include "runtime/streams/execution.h"
#include "runtime/streams/host_turns.h"

#define OPGATE_SIM_API extern "C" __attribute__((visibility("default")))

namespace opgate::simulator {

/// Runs the body of a function that still answers after a kernel has faulted. `body` takes the simulator, and
/// may refuse. A body that takes nothing leaves the devices untouched, so that a child process may still use
/// them. `function` is the caller.
template <class Body>
cudaError_t api_answer(Body&& body, const char* function = __builtin_FUNCTION()) {
  try {
    const HostCall call;
    if constexpr (std::is_invocable_v<Body>) {
      report_start();
      std::forward<Body>(body)();
    } else {
      std::forward<Body>(body)(simulator());
    }
    return cudaSuccess;
  } catch (const Refusal& refusal) {
    errors::report_refusal(function, refusal);
    return errors::keep(refusal.code());
  } catch (const std::bad_alloc&) {
    return errors::keep(cudaErrorMemoryAllocation);
  }
}

/// Runs the body of any other function. Fails at once after a fault, and in a function that the runtime
/// calls.
template <class Body>
cudaError_t api_call(Body&& body, const char* function = __builtin_FUNCTION()) {
  if (const cudaError_t fault = errors::told_sticky(); fault != cudaSuccess) return errors::keep_fault(fault);
  if (Execution::in_host_call()) return errors::keep(cudaErrorNotPermitted);
  const cudaError_t status = api_answer(std::forward<Body>(body), function);
  // The call may have waited for a kernel that faulted.
  const cudaError_t fault = errors::told_sticky();
  return fault != cudaSuccess ? errors::keep_fault(fault) : status;
}

/// Runs the body of a function that gives something back. It reports no fault of a kernel, unlike that of
/// CUDA, which fails: torch calls it in destructors, where an exception ends the process, and with its cache,
/// which the simulator replaces, it would not call it at all. The next function that programs check reports
/// the fault.
template <class Body>
cudaError_t api_release(Body&& body, const char* function = __builtin_FUNCTION()) {
  if (Execution::in_host_call()) return errors::keep(cudaErrorNotPermitted);
  return api_answer(std::forward<Body>(body), function);
}

/// For the places that results are written to.
template <class Pointer>
void require(Pointer* pointer) {
  if (pointer == nullptr) refuse(cudaErrorInvalidValue);
}

/// The body of a function that gives one value: writes what `value` returns, unless the place for it is null.
template <class Result, class Value>
auto give(Result* result, Value value) {
  return [result, value](auto&... simulator) -> decltype(void(value(simulator...))) {
    require(result);
    *result = value(simulator...);
  };
}

}  // namespace opgate::simulator
