// Capture of streams into graphs, and graphs.
#include <algorithm>
#include <vector>

#include "runtime/api/api.h"
#include "runtime/graphs/graph_handles.h"

using namespace opgate::simulator;

namespace {

// Fills an array of the program with handles. Without an array only their number is wanted.
template <class Nodes>
void give_nodes(const Nodes& nodes, cudaGraphNode_t* handles, std::size_t* count) {
  require(count);
  if (handles == nullptr) {
    *count = nodes.size();
    return;
  }
  const std::size_t room = *count;
  *count = std::min(room, nodes.size());
  for (std::size_t i = 0; i < room; ++i) handles[i] = i < nodes.size() ? handle_of(&*nodes[i]) : nullptr;
}

cudaStreamCaptureStatus status_of(const Stream& stream) {
  if (stream.capture == nullptr) return cudaStreamCaptureStatusNone;
  return stream.capture->valid() ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated;
}

// Nothing may ask about the legacy default stream while a stream that it would wait for captures.
void refuse_implicit(Simulator& simulator, const Stream& stream) {
  if (!stream.legacy) return;
  for (const auto& other : simulator.streams.of_device(stream.device)) {
    if (other->blocking() && other->capture != nullptr) refuse(cudaErrorStreamCaptureImplicit);
  }
}

void instantiate(Simulator& simulator, cudaGraphExec_t* result, cudaGraph_t graph, unsigned long long flags) {
  require(result);
  // Uploads and priorities change no result; a launch by a kernel is not simulated.
  constexpr unsigned long long kKnown = cudaGraphInstantiateFlagUpload |
                                        cudaGraphInstantiateFlagUseNodePriority |
                                        cudaGraphInstantiateFlagAutoFreeOnLaunch;
  if ((flags & ~kKnown) != 0)
    refuse(cudaErrorNotSupported, "cudaGraphInstantiate with flags that are not simulated");
  *result = simulator.graph_programs.add(std::make_shared<GraphProgram>(
      *simulator.graphs.at(graph), (flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0));
}

}  // namespace

OPGATE_SIM_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return api_call(
      [&](Simulator& simulator) { simulator.captures.begin(*simulator.stream(stream), mode, nullptr, {}); });
}

OPGATE_SIM_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t handle,
                                                         const cudaGraphNode_t* dependencies,
                                                         const cudaGraphEdgeData* /*edges*/,
                                                         std::size_t count, cudaStreamCaptureMode mode) {
  return api_call([&](Simulator& simulator) {
    const auto& graph = simulator.graphs.at(handle);
    simulator.captures.begin(*simulator.stream(stream), mode, graph, nodes_of(*graph, dependencies, count));
  });
}

OPGATE_SIM_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* result) {
  return api_call([&](Simulator& simulator) {
    const auto ending = simulator.stream(stream);
    const auto handle_of_capture = [&] {
      return ending->capture == nullptr ? nullptr
                                        : reinterpret_cast<cudaGraph_t>(ending->capture->graph().get());
    };
    // The program has the handle already if it has given the graph.
    const bool is_known = simulator.graphs.holds(handle_of_capture());
    if (!is_known) require(result);
    if (result != nullptr) *result = nullptr;
    const auto graph = simulator.captures.end(*ending);
    if (result == nullptr) return;
    *result = is_known ? reinterpret_cast<cudaGraph_t>(graph.get()) : simulator.graphs.add(graph);
  });
}

OPGATE_SIM_API cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return api_call([&](Simulator& simulator) {
    require(status);
    const auto stream = simulator.stream(handle);
    refuse_implicit(simulator, *stream);
    *status = status_of(*stream);
  });
}

OPGATE_SIM_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                                    unsigned long long* id, cudaGraph_t* graph,
                                                    const cudaGraphNode_t** dependencies,
                                                    const cudaGraphEdgeData** edges, std::size_t* count) {
  return api_call([&](Simulator& simulator) {
    require(status);
    const auto stream = simulator.stream(handle);
    refuse_implicit(simulator, *stream);
    *status = status_of(*stream);
    if (*status != cudaStreamCaptureStatusActive) return;
    Capture& capture = *stream->capture;
    if (id != nullptr) *id = capture.id();
    if (graph != nullptr) {
      // The graph gets its handle before the end of the capture, so that nodes can be added to it.
      const auto known = reinterpret_cast<cudaGraph_t>(capture.graph().get());
      *graph = simulator.graphs.holds(known) ? known : simulator.graphs.add(capture.graph());
    }
    const auto& ends = capture.ends(*stream);
    // The program reads this array until its next call. A pointer to a node is its handle.
    if (dependencies != nullptr) *dependencies = reinterpret_cast<const cudaGraphNode_t*>(ends.data());
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = ends.size();
  });
}

OPGATE_SIM_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle,
                                                               cudaGraphNode_t* dependencies,
                                                               const cudaGraphEdgeData* /*edges*/,
                                                               std::size_t count, unsigned flags) {
  return api_call([&](Simulator& simulator) {
    const auto stream = simulator.stream(handle);
    if (stream->capture == nullptr) refuse(cudaErrorIllegalState);
    auto nodes = nodes_of(*stream->capture->graph(), dependencies, count);
    if (flags == cudaStreamSetCaptureDependencies) {
      stream->capture->ends(*stream) = std::move(nodes);
    } else {
      stream->capture->join(*stream, nodes);
    }
  });
}

OPGATE_SIM_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return api_answer([&](Simulator&) {
    require(mode);
    *mode = Captures::exchange_mode(*mode);
  });
}

OPGATE_SIM_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return api_call(
      [&](Simulator& simulator) { give_nodes(simulator.graphs.at(graph)->nodes(), nodes, count); });
}

OPGATE_SIM_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return api_call([&](Simulator&) {
    require(node);
    require(type);
    *type = node_of(node)->work.kind;
  });
}

OPGATE_SIM_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                                        cudaGraphEdgeData* /*edges*/, std::size_t* count) {
  return api_call([&](Simulator&) {
    require(node);
    give_nodes(node_of(node)->dependencies, dependencies, count);
  });
}

OPGATE_SIM_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* result, cudaGraph_t graph,
                                                unsigned long long flags) {
  return api_call([&](Simulator& simulator) { instantiate(simulator, result, graph, flags); });
}

OPGATE_SIM_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* result, cudaGraph_t graph,
                                                         unsigned long long flags) {
  return cudaGraphInstantiate(result, graph, flags);
}

OPGATE_SIM_API cudaError_t cudaGraphUpload(cudaGraphExec_t program, cudaStream_t stream) {
  return api_call([&](Simulator& simulator) {
    static_cast<void>(simulator.graph_programs.at(program));
    static_cast<void>(simulator.stream(stream));
  });
}

OPGATE_SIM_API cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream) {
  return api_call([&](Simulator& simulator) {
    const std::shared_ptr<GraphProgram> program = simulator.graph_programs.at(handle);
    simulator.execution.issue(
        *simulator.stream(stream),
        {[&simulator, program] { program->run(simulator.execution); }, cudaGraphNodeTypeGraph});
  });
}

OPGATE_SIM_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return api_call([&](Simulator& simulator) { simulator.graphs.remove(graph); });
}

OPGATE_SIM_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t program) {
  return api_call([&](Simulator& simulator) { simulator.graph_programs.remove(program); });
}

OPGATE_SIM_API cudaError_t cudaUserObjectCreate(cudaUserObject_t* result, void* data, cudaHostFn_t destroy,
                                                unsigned count, unsigned flags) {
  return api_call([&](Simulator& simulator) {
    require(result);
    if (destroy == nullptr || count == 0 || flags != cudaUserObjectNoDestructorSync)
      refuse(cudaErrorInvalidValue);
    *result = simulator.user_objects.add(std::make_shared<UserObject>(data, destroy, count));
  });
}

OPGATE_SIM_API cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return api_call([&](Simulator& simulator) { simulator.user_objects.at(object)->retain(count); });
}

OPGATE_SIM_API cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return api_call([&](Simulator& simulator) {
    const std::shared_ptr<UserObject> released = simulator.user_objects.at(object);
    released->release(count);
  });
}

OPGATE_SIM_API cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                                     unsigned count, unsigned flags) {
  return api_call([&](Simulator& simulator) {
    const std::shared_ptr<UserObject> kept = simulator.user_objects.at(object);
    // With this flag the graph takes references that the program had.
    if (flags != cudaGraphUserObjectMove) kept->retain(count);
    simulator.graphs.at(graph)->keep(kept, count);
  });
}
