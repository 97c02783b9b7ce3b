#include "runtime/graphs/capture.h"

#include <algorithm>
#include <utility>

#include "runtime/findings/errors.h"

namespace opgate::simulator {
namespace capturing {

thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

}  // namespace capturing

Capture::Capture(unsigned long long id, cudaStreamCaptureMode mode, std::shared_ptr<Graph> graph,
                 std::shared_ptr<Stream> origin, std::vector<GraphNode*> dependencies)
    : id_(id), mode_(mode), graph_(std::move(graph)), origin_(std::move(origin)) {
  ends_[origin_.get()] = std::move(dependencies);
  streams_.push_back(origin_);
}

void Capture::add(Stream& stream, Work work) {
  if (!valid_) refuse(cudaErrorStreamCaptureInvalidated);
  auto& ends = ends_.at(&stream);
  ends = {graph_->add(std::move(work), ends)};
}

void Capture::join(Stream& stream, const std::vector<GraphNode*>& nodes) {
  if (!valid_) refuse(cudaErrorStreamCaptureInvalidated);
  if (!ends_.contains(&stream)) streams_.push_back(stream.shared_from_this());
  auto& ends = ends_[&stream];
  for (GraphNode* const node : nodes) {
    if (std::ranges::find(ends, node) == ends.end()) ends.push_back(node);
  }
}

bool Capture::forbids_unsafe_calls(cudaStreamCaptureMode mode_of_thread) const {
  if (mode_of_thread == cudaStreamCaptureModeRelaxed || mode_ == cudaStreamCaptureModeRelaxed) return false;
  if (of_this_thread()) return true;
  return mode_ == cudaStreamCaptureModeGlobal && mode_of_thread == cudaStreamCaptureModeGlobal;
}

bool Capture::close() {
  const auto& last = ends_.at(origin_.get());
  const bool joined =
      std::ranges::all_of(ends_, [&](const auto& entry) { return Graph::all_before(entry.second, last); });
  for (const auto& stream : streams_) stream->capture = nullptr;
  ends_.clear();
  streams_.clear();
  return joined;
}

void Captures::begin(Stream& stream, cudaStreamCaptureMode mode, std::shared_ptr<Graph> graph,
                     std::vector<GraphNode*> dependencies) {
  if (stream.legacy) refuse(cudaErrorStreamCaptureUnsupported);
  if (stream.capture != nullptr) refuse(cudaErrorIllegalState);
  if (graph == nullptr) graph = std::make_shared<Graph>();
  stream.capture = std::make_shared<Capture>(next_id_++, mode, std::move(graph), stream.shared_from_this(),
                                             std::move(dependencies));
  active_.push_back(stream.capture);
}

std::shared_ptr<Graph> Captures::end(Stream& stream) {
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture == nullptr) refuse(cudaErrorIllegalState);
  if (!capture->is_origin(stream)) {
    capture->invalidate();
    refuse(cudaErrorStreamCaptureUnmatched);
  }
  if (capture->mode() != cudaStreamCaptureModeRelaxed && !capture->of_this_thread())
    refuse(cudaErrorStreamCaptureWrongThread);
  std::erase(active_, capture);
  const bool joined = capture->close();
  if (!capture->valid()) refuse(cudaErrorStreamCaptureInvalidated);
  if (!joined) refuse(cudaErrorStreamCaptureUnjoined);
  return capture->graph();
}

void Captures::refuse_unsafe_call() {
  bool forbidden = false;
  for (const auto& capture : active_) {
    if (!capture->forbids_unsafe_calls(capturing::mode_of_thread)) continue;
    capture->invalidate();
    forbidden = true;
  }
  if (forbidden) refuse(cudaErrorStreamCaptureUnsupported);
}

void Captures::refuse_captured(const Stream& stream) {
  if (stream.capture == nullptr) return;
  stream.capture->invalidate();
  refuse(cudaErrorStreamCaptureUnsupported);
}

void Captures::refuse_captured_on(int device, Streams& streams) {
  bool captured = false;
  for (const auto& stream : streams.of_device(device)) {
    if (stream->capture == nullptr) continue;
    stream->capture->invalidate();
    captured = true;
  }
  if (captured) refuse(cudaErrorStreamCaptureUnsupported);
}

cudaStreamCaptureMode Captures::exchange_mode(cudaStreamCaptureMode mode) {
  return std::exchange(capturing::mode_of_thread, mode);
}

}  // namespace opgate::simulator
