// A graph: work with an order between its nodes, which runs as often as it is launched.
#pragma once

#include <driver_types.h>

#include <memory>
#include <vector>

#include "runtime/streams/stream.h"

namespace opgate::simulator {

class Execution;

class Condition;
class Graph;
class GraphProgram;

/// A node whose graphs run if, as long as, or as a value says that kernels set.
struct Conditional {
  std::shared_ptr<Condition> condition;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::vector<std::shared_ptr<Graph>> bodies;
  std::vector<cudaGraph_t> handles;  ///< of the bodies, which the program reads
};

struct GraphNode {
  Work work;
  std::vector<GraphNode*> dependencies;
  std::shared_ptr<const Conditional> conditional = nullptr;
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

  /// A graph of the same nodes, which later changes of this one leave alone. Bodies of conditional nodes are
  /// not copied.
  std::shared_ptr<Graph> clone() const;

  /// Holds the object until the graph is destroyed.
  void keep(std::shared_ptr<UserObject> object, unsigned count);

  /// A condition whose value is set at each launch.
  void add_condition(std::shared_ptr<Condition> condition) { conditions_.push_back(std::move(condition)); }
  const std::vector<std::shared_ptr<Condition>>& conditions() const { return conditions_; }

  const std::vector<std::unique_ptr<GraphNode>>& nodes() const { return nodes_; }
  bool holds(const GraphNode* node) const;

  /// Whether every node of `nodes` is one of `ends`, or comes before one.
  static bool all_before(const std::vector<GraphNode*>& nodes, const std::vector<GraphNode*>& ends);

 private:
  std::vector<std::unique_ptr<GraphNode>> nodes_;
  std::vector<std::pair<std::shared_ptr<UserObject>, unsigned>> kept_;
  std::vector<std::shared_ptr<Condition>> conditions_;
};

/// An instantiated graph. It does not depend on the graph that it was made from.
class GraphProgram {
 public:
  /// Among nodes that nothing orders, the one that was added last runs first. `frees_on_launch`: memory that
  /// an earlier launch has allocated and that is still in use is freed first.
  explicit GraphProgram(const Graph& graph, bool frees_on_launch = false);

  /// As the operation that `execution` runs.
  void run(Execution& execution) const;

 private:
  struct Step {
    Work work;
    std::shared_ptr<const Conditional> conditional;
    std::vector<std::shared_ptr<const GraphProgram>> bodies;
  };

  void prepare() const;
  void run_steps(Execution& execution) const;
  static void run_bodies(const Step& step, Execution& execution);

  bool frees_on_launch_;
  std::vector<std::shared_ptr<Condition>> conditions_;
  std::vector<Step> steps_;
};

}  // namespace opgate::simulator
