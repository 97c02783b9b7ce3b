// Capture of the work of streams into a graph, with the rules of CUDA about what is allowed meanwhile.
#pragma once

#include <driver_types.h>

#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/graphs/graph.h"
#include "runtime/streams/stream.h"

namespace opgate::simulator {

class Capture {
 public:
  Capture(unsigned long long id, cudaStreamCaptureMode mode, std::shared_ptr<Graph> graph,
          std::shared_ptr<Stream> origin, std::vector<GraphNode*> dependencies);

  /// Adds a node after the last ones of the stream. Refuses where the capture is invalid.
  void add(Stream& stream, Work work);

  /// Makes further work of the stream wait for the nodes. A stream outside takes part from now on.
  void join(Stream& stream, const std::vector<GraphNode*>& nodes);

  /// The nodes that the stream's next one depends on.
  std::vector<GraphNode*>& ends(Stream& stream) { return ends_.at(&stream); }

  void invalidate() { valid_ = false; }
  bool valid() const { return valid_; }
  bool closed() const { return streams_.empty(); }
  bool is_origin(const Stream& stream) const { return &stream == origin_.get(); }
  bool of_this_thread() const { return thread_ == std::this_thread::get_id(); }
  bool forbids_unsafe_calls(cudaStreamCaptureMode mode_of_thread) const;
  cudaStreamCaptureMode mode() const { return mode_; }
  unsigned long long id() const { return id_; }
  const std::shared_ptr<Graph>& graph() const { return graph_; }

  /// Takes all streams out of the capture. Whether all their work comes before the end of the first stream.
  bool close();

 private:
  unsigned long long id_;
  cudaStreamCaptureMode mode_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::shared_ptr<Graph> graph_;
  std::shared_ptr<Stream> origin_;
  std::map<Stream*, std::vector<GraphNode*>> ends_;
  std::vector<std::shared_ptr<Stream>> streams_;
  bool valid_ = true;
};

class Captures {
 public:
  /// `graph`: an existing one that is continued after `dependencies`, or null for a new one.
  void begin(Stream& stream, cudaStreamCaptureMode mode, std::shared_ptr<Graph> graph,
             std::vector<GraphNode*> dependencies);

  /// Refuses with the error of an unusable capture, after which the stream captures no more.
  std::shared_ptr<Graph> end(Stream& stream);

  /// Whether any stream is captured.
  bool any() const { return !active_.empty(); }

  /// For calls that may wait for the device, or change what a captured graph depends on. Captures that forbid
  /// them become invalid.
  void refuse_unsafe_call();

  /// For calls that wait for, or ask about, a stream or a device: never while it captures.
  void refuse_captured(const Stream& stream);
  void refuse_captured_on(int device, Streams& streams);

  /// The mode of the calling thread, which `mode` replaces.
  static cudaStreamCaptureMode exchange_mode(cudaStreamCaptureMode mode);

 private:
  std::vector<std::shared_ptr<Capture>> active_;
  unsigned long long next_id_ = 1;
};

}  // namespace opgate::simulator
