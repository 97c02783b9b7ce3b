#include "call/invoke.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function_schema.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <opgate/error.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <type_traits>

#include "base/tensors_in.h"
#include "base/text.h"
#include "device/accelerator.h"
#include "device/device.h"
#include "device/simulator.h"
#include "process/libraries/replaced_kernels.h"

namespace opgate {
namespace {

PythonExceptions python_exceptions;

std::vector<at::Tensor> mutable_tensors(const c10::FunctionSchema& schema, const torch::jit::Stack& stack) {
  std::vector<at::Tensor> tensors;
  for (size_t i = 0; i < stack.size(); ++i) {
    if (!schema.is_mutable({c10::SchemaArgType::input, i})) continue;
    for (const at::Tensor& tensor : tensors_in(stack[i])) tensors.push_back(tensor);
  }
  return tensors;
}

/// Ends a child process that the operator forked and that returns from the operator, so that only one
/// process gives a verdict.
class ForkedChildGuard {
 public:
  ~ForkedChildGuard() {
    if (getpid() != process_) _exit(0);
  }

 private:
  pid_t process_ = getpid();
};

// As PyTorch translates exceptions in C++ for a caller in Python.
std::vector<std::string> types_in_python(const std::exception& error) {
  const auto is = [&]<class Type>(std::type_identity<Type>) {
    return dynamic_cast<const Type*>(&error) != nullptr;
  };
  if (is(std::type_identity<c10::IndexError>())) return {"IndexError", "LookupError", "Exception"};
  if (is(std::type_identity<c10::ValueError>())) return {"ValueError", "Exception"};
  if (is(std::type_identity<c10::TypeError>())) return {"TypeError", "Exception"};
  if (is(std::type_identity<c10::NotImplementedError>()))
    return {"NotImplementedError", "RuntimeError", "Exception"};
  return {"RuntimeError", "Exception"};
}

// Without the Python stack that pybind11 appends to the message of an exception from a kernel written in
// Python.
Raised raised_by(const std::exception& error, std::string message) {
  message.resize(std::min(message.size(), message.find("\n\nAt:\n")));
  const bool has_text = !message.empty();
  Raised raised{std::move(message), has_text, types_in_python(error)};
  if (python_exceptions.describe != nullptr) python_exceptions.describe(error, raised);
  return raised;
}

void demand_readable(const Outcome& outcome, c10::DeviceType device) {
  for (const at::Tensor& tensor : outcome.values()) {
    if (!tensor.defined()) continue;
    if (tensor.is_meta() && device != c10::kMeta) throw ResultWithoutValues();
    if (tensor.layout() != c10::kStrided) {
      std::ostringstream kind;
      kind << tensor.layout();
      throw UnreadableResult("a tensor of layout " + kind.str());
    }
    if (tensor.is_quantized()) throw UnreadableResult("a quantized tensor");
  }
}

// Where the call did not raise, what is not simulated was not needed: torch asks for much that it can do
// without.
void demand_simulated(const std::optional<Raised>& raised) {
  if (!is_simulated()) return;
  const std::optional<SimulatedFailure> failure = take_simulated_failure();
  if (raised && unsimulated_library(raised->message))
    throw NotSimulated("it needs what is not simulated: " + first_line(raised->message));
  if (!failure) return;
  if (failure->unsupported && (raised || failure->device_failed)) throw NotSimulated(failure->what);
  if (!failure->device_failed) return;
  throw DeviceFailed(*failure);
}

}  // namespace

DeviceFailed::DeviceFailed(const SimulatedFailure& failure)
    : ended_("the simulated device failed: " + failure.error),
      detail_(failure.what),
      what_(fmt::format("{} ({})", ended_, failure.what)),
      frame_(failure.frame()) {}

UnreadableResult::UnreadableResult(const std::string& result)
    : what_("the operator returns " + result + ", and OpGate looks into strided tensors of numbers only") {}

std::vector<at::Tensor> Outcome::returned() const {
  std::vector<at::Tensor> all;
  for (const c10::IValue& result : results) {
    for (const at::Tensor& tensor : tensors_in(result)) all.push_back(tensor);
  }
  return all;
}

std::vector<at::Tensor> Outcome::values() const {
  std::vector<at::Tensor> all = returned();
  all.insert(all.end(), written.begin(), written.end());
  return all;
}

std::set<size_t> Outcome::tensors_of(const std::set<size_t>& schema_results) const {
  std::set<size_t> positions;
  size_t position = 0;
  for (size_t result = 0; result < results.size(); ++result) {
    for (size_t count = tensors_in(results[result]).size(); count > 0; --count, ++position) {
      if (schema_results.contains(result)) positions.insert(position);
    }
  }
  const std::vector<at::Tensor> all = values();
  for (; position < all.size(); ++position) {
    const bool returned_too =
        std::ranges::any_of(positions, [&](size_t known) { return all[known].is_same(all[position]); });
    if (returned_too) positions.insert(position);
  }
  return positions;
}

void set_python_exceptions(PythonExceptions functions) { python_exceptions = functions; }

std::vector<at::Tensor> expected_values(const Outcome& reference, const Outcome& call) {
  std::vector<at::Tensor> returned = reference.returned();
  return returned.size() == call.values().size() ? returned : reference.values();
}

Outcome invoke(const c10::OperatorHandle& op, const BoxedCall& call, torch::jit::Stack stack,
               c10::DeviceType device) {
  std::vector<at::Tensor> written = mutable_tensors(op.schema(), stack);
  const ForkedChildGuard forked_child_guard;
  const KernelScope scope(Purpose::under_test);
  std::optional<Raised> raised;
  if (device == kSimulatedType) restart_block_orders();
  try {
    call(stack);
    synchronize(device);  // kernels fail asynchronously, and the error would be reported for a later case
  } catch (const SetupError&) {  // such as for a missing reference: the operator did not raise it
    throw;
  } catch (const c10::Error& error) {
    raised = raised_by(error, error.what_without_backtrace());
  } catch (const std::exception& error) {
    raised = raised_by(error, error.what());
  } catch (...) {  // an operator may throw anything; it is a finding, not a reason to end the worker
    raised = Raised{"an exception that is no std::exception"};
  }
  if (raised && python_exceptions.forget != nullptr) python_exceptions.forget();
  std::string left_error;
  if (device != c10::kCPU && device != c10::kMeta) {
    left_error = accelerator(device)
                     .services()
                     .take_last_error();  // otherwise the next operator would be blamed for it
    demand_simulated(raised);
  }
  if (raised) return {{}, std::move(raised), {}};
  Outcome outcome{std::move(stack), std::nullopt, std::move(written), std::move(left_error)};
  demand_readable(outcome, device);
  return outcome;
}

Outcome invoke(const c10::OperatorHandle& op, torch::jit::Stack stack, c10::DeviceType device) {
  return invoke(
      op, [&op](torch::jit::Stack& s) { op.callBoxed(s); }, std::move(stack), device);
}

}  // namespace opgate
