// A graph: work with an order between its nodes, which runs as often as it is launched.
#pragma once

#include <driver_types.h>

#include <memory>
#include <vector>

#include "simulator/runtime/stream.h"

namespace opgate::simulator {

class Execution;

struct GraphNode {
  Work work;
  std::vector<GraphNode*> dependencies;
};

/// An object of the program that lives for as long as some graph or the program holds it.
class UserObject {
 public:
  UserObject(void* data, cudaHostFn_t destroy, unsigned count)
      : data_(data), destroy_(destroy), count_(count) {}

  void retain(unsigned count) { count_ += count; }

  /// Destroys the program's object where nothing holds it any more.
  void release(unsigned count);

 private:
  void* data_;
  cudaHostFn_t destroy_;
  unsigned count_;
};

class Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  GraphNode* add(Work work, std::vector<GraphNode*> dependencies);

  /// Holds the object until the graph is destroyed.
  void keep(std::shared_ptr<UserObject> object, unsigned count);

  const std::vector<std::unique_ptr<GraphNode>>& nodes() const { return nodes_; }
  bool holds(const GraphNode* node) const;

  /// Whether every node of `nodes` is one of `ends`, or comes before one.
  static bool all_before(const std::vector<GraphNode*>& nodes, const std::vector<GraphNode*>& ends);

 private:
  std::vector<std::unique_ptr<GraphNode>> nodes_;
  std::vector<std::pair<std::shared_ptr<UserObject>, unsigned>> kept_;
};

/// An instantiated graph. It does not depend on the graph that it was made from.
class GraphProgram {
 public:
  /// Of nodes that nothing orders, the one that was added last runs first.
  explicit GraphProgram(const Graph& graph);

  /// As the operation that `execution` runs.
  void run(Execution& execution) const;

 private:
  std::vector<Work> steps_;
};

}  // namespace opgate::simulator
