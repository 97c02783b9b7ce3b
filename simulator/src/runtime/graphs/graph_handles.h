// Nodes are handles of their own: the address of the node.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <vector>

#include "runtime/findings/errors.h"
#include "runtime/graphs/graph.h"

namespace opgate::simulator {

inline GraphNode* node_of(cudaGraphNode_t handle) { return reinterpret_cast<GraphNode*>(handle); }

inline cudaGraphNode_t handle_of(const GraphNode* node) {
  return reinterpret_cast<cudaGraphNode_t>(const_cast<GraphNode*>(node));
}

/// Refuses nodes of other graphs.
inline std::vector<GraphNode*> nodes_of(const Graph& graph, const cudaGraphNode_t* handles,
                                        std::size_t count) {
  std::vector<GraphNode*> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    nodes.push_back(node_of(handles[i]));
    if (!graph.holds(nodes.back())) refuse(cudaErrorInvalidValue);
  }
  return nodes;
}

}  // namespace opgate::simulator
