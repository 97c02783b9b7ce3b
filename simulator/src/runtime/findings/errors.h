// How a function of the CUDA runtime fails, and which error it leaves behind.
#pragma once

#include <driver_types.h>

#include <exception>
#include <string>
#include <utility>

#include <opgate_sim/finding.h>

namespace opgate::simulator {

/// Thrown inside the simulator; `api_call` turns it into the function's return value.
class Refusal : public std::exception {
 public:
  /// `told`: whether a finding has been written already.
  explicit Refusal(cudaError_t code, bool told = false) : code_(code), told_(told) {}
  cudaError_t code() const { return code_; }
  bool told() const { return told_; }
  const char* what() const noexcept override { return "a CUDA function was refused"; }

  /// Which launch it was: "kernel twice(float*) in 0,1,1 blocks of 64,1,1 threads".
  const std::string& subject() const { return subject_; }
  void set_subject(std::string subject) { subject_ = std::move(subject); }

 private:
  cudaError_t code_;
  bool told_;
  std::string subject_;
};

[[noreturn]] void refuse(cudaError_t code);

/// The same with a finding on stderr, where the error alone does not say what is wrong.
[[noreturn]] void refuse(cudaError_t code, const std::string& why);

namespace errors {

/// Keeps the function's name where it is refused because a graph is captured. Where findings are collected, a
/// function of the runtime that fails is one, unless programs use its error as an answer.
void report_refusal(const char* function, const Refusal& refusal);

/// The first function that was refused since the last time because a graph is captured; empty if there was
/// none.
std::string take_refused_in_capture();

/// Keeps the error for cudaGetLastError of this thread, and returns it. Success keeps the former error.
cudaError_t keep(cudaError_t code);

/// The same for the error of a device that has failed. If devices recover, the one function that fails has
/// reported it.
cudaError_t keep_fault(cudaError_t code);

/// The error that this thread keeps; `take` forgets it, unless it is sticky.
cudaError_t peek();
cudaError_t take();

/// After a fault of a kernel every function of every thread fails with its error, as CUDA documents it: the
/// process must end. The first fault counts. It is written to stderr, unless its message is empty. If its
/// kind is `unsupported`, the message is the name of what the kernel needs.
void set_sticky(cudaError_t code, Finding fault);
void set_sticky(cudaError_t code, const std::string& why);
cudaError_t sticky();

/// The same for a function that returns it: where the devices recover, it is forgotten then.
cudaError_t told_sticky();

/// Something that is not simulated was asked for: written to stderr once, and remembered for take_failure().
void note_unsupported(const std::string& what);

/// What went wrong since the last time: the sticky error, or success if only something unsupported was asked
/// for, which is then the kind of the finding. Forgets all errors, so that the devices work again, which no
/// real device would: a program that examines one call after another need not end for each fault.
std::pair<cudaError_t, Finding> take_failure();

}  // namespace errors

/// "cudaErrorInvalidValue" and "invalid argument"; "unrecognized error code" for an unknown number.
const char* error_name(cudaError_t code);
const char* error_text(cudaError_t code);

/// "CUDA_ERROR_INVALID_VALUE"; null if the driver, whose errors have the same numbers, has no such one.
const char* driver_error_name(cudaError_t code);

}  // namespace opgate::simulator
