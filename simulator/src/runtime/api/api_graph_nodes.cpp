// Graphs that a program builds node by node. A node is added as a stream that captures adds it: a stream of
// the simulator captures what the node does, after the nodes that it depends on.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/api/api.h"
#include "runtime/graphs/graph_handles.h"
#include "runtime/graphs/graph_memory.h"
#include "runtime/memory/copies.h"

using namespace opgate::simulator;

namespace {

/// Where a node is added.
struct NodePlace {
  cudaGraphNode_t* result;
  cudaGraph_t graph;
  const cudaGraphNode_t* dependencies;
  std::size_t count;
};

// `issue` calls functions of the runtime for a stream.
template <class Issue>
cudaError_t add_node(const NodePlace& place, Issue issue) {
  cudaStream_t stream = nullptr;
  const cudaError_t begun = api_call([&](Simulator& simulator) {
    require(place.result);
    const auto& graph = simulator.graphs.at(place.graph);
    auto dependencies = nodes_of(*graph, place.dependencies, place.count);
    stream = simulator.streams.create(devices::current(), cudaStreamNonBlocking, 0);
    simulator.captures.begin(*simulator.stream(stream), cudaStreamCaptureModeRelaxed, graph,
                             std::move(dependencies));
  });
  if (begun != cudaSuccess) return begun;
  const cudaError_t issued = issue(stream);
  const cudaError_t ended = api_release([&](Simulator& simulator) {
    const auto ending = simulator.stream(stream);
    Capture& capture = *ending->capture;
    const std::size_t before = place.count;
    // What has nothing to do, such as a copy of no bytes, is a node, too.
    if (issued == cudaSuccess && capture.ends(*ending).size() == before &&
        capture.ends(*ending) == nodes_of(*capture.graph(), place.dependencies, before))
      capture.add(*ending, {[] {}, cudaGraphNodeTypeEmpty});
    if (issued == cudaSuccess) *place.result = handle_of(capture.ends(*ending).back());
    simulator.captures.end(*ending);
    simulator.streams.destroy(stream);
  });
  return issued != cudaSuccess ? issued : ended;
}

template <class Parameters>
cudaError_t add_kernel(const NodePlace& place, const Parameters& parameters) {
  return add_node(place, [&](cudaStream_t stream) {
    if (parameters.kernelParams == nullptr && parameters.extra != nullptr) {
      return api_call([](Simulator&) {
        refuse(cudaErrorNotSupported, "a kernel node with `extra` instead of `kernelParams`");
      });
    }
    return cudaLaunchKernel(parameters.func, parameters.gridDim, parameters.blockDim, parameters.kernelParams,
                            parameters.sharedMemBytes, stream);
  });
}

template <class Parameters>
cudaError_t add_memset(const NodePlace& place, const Parameters& parameters) {
  return add_node(place, [&](cudaStream_t stream) {
    return api_call([&](Simulator& simulator) {
      const std::size_t bytes = parameters.elementSize;
      const std::size_t width = parameters.width * bytes;
      const std::size_t pitch = parameters.height == 1 ? width : parameters.pitch;
      if ((bytes != 1 && bytes != 2 && bytes != 4) || pitch < width) refuse(cudaErrorInvalidValue);
      fill(simulator, {parameters.dst, pitch, pitch * parameters.height}, {width, parameters.height},
           parameters.value, *simulator.stream(stream), bytes);
    });
  });
}

template <class Parameters>
cudaError_t add_function(const NodePlace& place, const Parameters& parameters) {
  return add_node(place, [&](cudaStream_t stream) {
    return cudaLaunchHostFunc(stream, parameters.fn, parameters.userData);
  });
}

// The graph is copied: later changes of it do not count.
cudaError_t add_child(const NodePlace& place, cudaGraph_t child) {
  return add_node(place, [&](cudaStream_t stream) {
    return api_call([&](Simulator& simulator) {
      auto program = std::make_shared<const GraphProgram>(*simulator.graphs.at(child));
      simulator.execution.issue(
          *simulator.stream(stream),
          {[&simulator, program] { program->run(simulator.execution); }, cudaGraphNodeTypeGraph});
    });
  });
}

template <class Parameters>
cudaError_t add_allocation(const NodePlace& place, Parameters& parameters) {
  return add_node(place, [&](cudaStream_t stream) {
    return api_call([&](Simulator& simulator) {
      const cudaMemPoolProps& pool = parameters.poolProps;
      if (parameters.bytesize == 0) refuse(cudaErrorInvalidValue);
      if (pool.location.type != cudaMemLocationTypeDevice)
        refuse(cudaErrorNotSupported, "memory of a graph that is not of a device, which is not simulated");
      devices::require(pool.location.id);
      parameters.dptr = reinterpret_cast<void*>(issue_graph_allocation(
          simulator, pool.location.id, parameters.bytesize, *simulator.stream(stream)));
    });
  });
}

cudaError_t add_release(const NodePlace& place, void* pointer) {
  return add_node(place, [&](cudaStream_t stream) { return cudaFreeAsync(pointer, stream); });
}

std::shared_ptr<Conditional> make_conditional(Simulator& simulator,
                                              const cudaConditionalNodeParams& parameters) {
  const auto known = simulator.conditions.find(parameters.handle);
  auto made = std::make_shared<Conditional>();
  if (known != simulator.conditions.end()) made->condition = known->second.lock();
  if (made->condition == nullptr) refuse(cudaErrorInvalidValue, "a conditional node without a handle");
  made->type = parameters.type;
  const bool is_known = parameters.type == cudaGraphCondTypeIf || parameters.type == cudaGraphCondTypeWhile ||
                        parameters.type == cudaGraphCondTypeSwitch;
  const unsigned most = parameters.type == cudaGraphCondTypeWhile ? 1
                        : parameters.type == cudaGraphCondTypeIf  ? 2
                                                                  : parameters.size;
  if (!is_known || parameters.size == 0 || parameters.size > most) refuse(cudaErrorInvalidValue);
  for (unsigned i = 0; i < parameters.size; ++i) {
    made->bodies.push_back(std::make_shared<Graph>());
    // The program fills it, and never destroys it.
    made->handles.push_back(simulator.graphs.add(made->bodies.back()));
  }
  return made;
}

cudaError_t add_conditional(const NodePlace& place, cudaConditionalNodeParams& parameters) {
  std::shared_ptr<Conditional> made;
  const cudaError_t status = add_node(place, [&](cudaStream_t stream) {
    return api_call([&](Simulator& simulator) {
      made = make_conditional(simulator, parameters);
      simulator.execution.issue(*simulator.stream(stream), {[] {}, cudaGraphNodeTypeConditional});
    });
  });
  if (status != cudaSuccess) return status;
  return api_call([&](Simulator&) {
    node_of(*place.result)->conditional = made;
    parameters.phGraph_out = made->handles.data();
  });
}

}  // namespace

OPGATE_SIM_API cudaError_t cudaGraphCreate(cudaGraph_t* result, unsigned flags) {
  return api_call([&](Simulator& simulator) {
    require(result);
    if (flags != 0) refuse(cudaErrorInvalidValue);
    *result = simulator.graphs.add(std::make_shared<Graph>());
  });
}

OPGATE_SIM_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                                 const cudaGraphNode_t* dependencies, std::size_t count) {
  return add_node({result, graph, dependencies, count}, [](cudaStream_t) { return cudaSuccess; });
}

OPGATE_SIM_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                                  const cudaGraphNode_t* dependencies, std::size_t count,
                                                  const cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return errors::keep(cudaErrorInvalidValue);
  return add_kernel({result, graph, dependencies, count}, *parameters);
}

OPGATE_SIM_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                                  const cudaGraphNode_t* dependencies, std::size_t count,
                                                  const cudaMemcpy3DParms* parameters) {
  return add_node({result, graph, dependencies, count},
                  [&](cudaStream_t stream) { return cudaMemcpy3DAsync(parameters, stream); });
}

OPGATE_SIM_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* result, cudaGraph_t graph,
                                                    const cudaGraphNode_t* dependencies, std::size_t count,
                                                    void* to, const void* from, std::size_t bytes,
                                                    cudaMemcpyKind kind) {
  return add_node({result, graph, dependencies, count},
                  [&](cudaStream_t stream) { return cudaMemcpyAsync(to, from, bytes, kind, stream); });
}

OPGATE_SIM_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                                  const cudaGraphNode_t* dependencies, std::size_t count,
                                                  const cudaMemsetParams* parameters) {
  if (parameters == nullptr) return errors::keep(cudaErrorInvalidValue);
  return add_memset({result, graph, dependencies, count}, *parameters);
}

OPGATE_SIM_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                                const cudaGraphNode_t* dependencies, std::size_t count,
                                                const cudaHostNodeParams* parameters) {
  if (parameters == nullptr) return errors::keep(cudaErrorInvalidValue);
  return add_function({result, graph, dependencies, count}, *parameters);
}

OPGATE_SIM_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                                      const cudaGraphNode_t* dependencies, std::size_t count,
                                                      cudaGraph_t child) {
  return add_child({result, graph, dependencies, count}, child);
}

OPGATE_SIM_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                                    const cudaGraphNode_t* dependencies, std::size_t count,
                                                    cudaMemAllocNodeParams* parameters) {
  if (parameters == nullptr) return errors::keep(cudaErrorInvalidValue);
  return add_allocation({result, graph, dependencies, count}, *parameters);
}

OPGATE_SIM_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                                   void* pointer) {
  return add_release({result, graph, dependencies, count}, pointer);
}

OPGATE_SIM_API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* result,
                                                            cudaGraph_t graph, unsigned default_value,
                                                            unsigned flags) {
  return api_call([&](Simulator& simulator) {
    require(result);
    if ((flags & ~static_cast<unsigned>(cudaGraphCondAssignDefault)) != 0) refuse(cudaErrorInvalidValue);
    const auto& owner = simulator.graphs.at(graph);
    const auto made = std::make_shared<Condition>(simulator.memory, devices::current(), default_value,
                                                  flags == cudaGraphCondAssignDefault);
    owner->add_condition(made);
    simulator.conditions[made->handle()] = made;
    *result = made->handle();
  });
}

OPGATE_SIM_API cudaError_t cudaGraphAddNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                            const cudaGraphNode_t* dependencies,
                                            const cudaGraphEdgeData* /*edges*/, std::size_t count,
                                            cudaGraphNodeParams* parameters) {
  if (parameters == nullptr) return errors::keep(cudaErrorInvalidValue);
  const NodePlace place{result, graph, dependencies, count};
  switch (parameters->type) {
    case cudaGraphNodeTypeKernel:
      return add_kernel(place, parameters->kernel);
    case cudaGraphNodeTypeMemcpy:
      return cudaGraphAddMemcpyNode(result, graph, dependencies, count, &parameters->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      return add_memset(place, parameters->memset);
    case cudaGraphNodeTypeHost:
      return add_function(place, parameters->host);
    case cudaGraphNodeTypeGraph:
      return add_child(place, parameters->graph.graph);
    case cudaGraphNodeTypeEmpty:
      return cudaGraphAddEmptyNode(result, graph, dependencies, count);
    case cudaGraphNodeTypeMemAlloc:
      return add_allocation(place, parameters->alloc);
    case cudaGraphNodeTypeMemFree:
      return add_release(place, parameters->free.dptr);
    case cudaGraphNodeTypeConditional:
      return add_conditional(place, parameters->conditional);
    default:
      return api_call([&](Simulator&) {
        refuse(cudaErrorNotSupported,
               "a node of a graph of the type " + std::to_string(static_cast<int>(parameters->type)));
      });
  }
}

OPGATE_SIM_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                    const cudaGraphNode_t* to,
                                                    const cudaGraphEdgeData* /*edges*/, std::size_t count) {
  return api_call([&](Simulator& simulator) {
    const Graph& changed = *simulator.graphs.at(graph);
    const auto before = nodes_of(changed, from, count);
    const auto after = nodes_of(changed, to, count);
    for (std::size_t i = 0; i < count; ++i) after[i]->dependencies.push_back(before[i]);
  });
}

OPGATE_SIM_API cudaError_t cudaGraphClone(cudaGraph_t* result, cudaGraph_t original) {
  return api_call(give(result, [&](Simulator& simulator) {
    return simulator.graphs.add(simulator.graphs.at(original)->clone());
  }));
}
