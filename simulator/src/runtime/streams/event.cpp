#include "runtime/streams/event.h"

#include <chrono>

#include "runtime/findings/errors.h"
#include "runtime/streams/execution.h"

namespace opgate::simulator {
namespace events {

double milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace events

void Event::record(Execution& execution, Stream& stream) {
  if (stream.device != device_) refuse(cudaErrorInvalidResourceHandle);
  if (stream.capture != nullptr) {
    if (!stream.capture->valid()) refuse(cudaErrorStreamCaptureInvalidated);
    capture_ = stream.capture;
    nodes_ = capture_->ends(stream);
    return;
  }
  auto time = std::make_shared<std::optional<double>>();
  execution.issue(stream, {[time] { *time = events::milliseconds(); }, cudaGraphNodeTypeEventRecord, true});
  capture_ = nullptr;
  time_ = std::move(time);
  mark_ = stream.end();
}

void Event::make_wait(Execution& execution, Stream& stream) const {
  if (capture_ != nullptr) {
    if (stream.legacy) {
      capture_->invalidate();
      refuse(cudaErrorStreamCaptureImplicit);
    }
    if (stream.capture != nullptr && stream.capture != capture_) {
      stream.capture->invalidate();
      capture_->invalidate();
      refuse(cudaErrorStreamCaptureMerge);
    }
    if (capture_->closed()) refuse(cudaErrorCapturedEvent);
    capture_->join(stream, nodes_);
    stream.capture = capture_;
    return;
  }
  if (time_ == nullptr) return;  // never recorded: there is nothing to wait for
  if (stream.capture != nullptr) {
    stream.capture->invalidate();
    refuse(cudaErrorStreamCaptureIsolation);
  }
  execution.issue(stream, {[] {}, cudaGraphNodeTypeWaitEvent, true}, {mark_});
}

void Event::refuse_captured() const {
  if (capture_ == nullptr) return;
  capture_->invalidate();
  refuse(cudaErrorCapturedEvent);
}

double Event::time() const {
  if ((flags_ & cudaEventDisableTiming) != 0 || time_ == nullptr) refuse(cudaErrorInvalidResourceHandle);
  if (!time_->has_value()) refuse(cudaErrorNotReady);
  return **time_;
}

float Event::elapsed(const Event& from, const Event& to) {
  if (from.device_ != to.device_) refuse(cudaErrorInvalidResourceHandle);
  const double begin = from.time();
  return static_cast<float>(to.time() - begin);
}

}  // namespace opgate::simulator
