// Graphs that are built node by node.
#include <vector>

#include "device_code.h"

namespace simulated::graph_nodes_test {
namespace {

/// A graph, with a function for each kind of node. Each gives the node that it adds after others.
class BuiltGraph {
 public:
  using Nodes = std::vector<cudaGraphNode_t>;

  BuiltGraph() { EXPECT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess); }

  cudaGraphNode_t add_value(float* data, float value, unsigned count, const Nodes& before = {}) {
    void* arguments[] = {&data, &value, &count};
    cudaKernelNodeParams kernel{};
    kernel.func = const_cast<char*>(&symbols().add);
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(64);
    kernel.kernelParams = arguments;
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph, before.data(), before.size(), &kernel), cudaSuccess);
    return node;
  }

  cudaGraphNode_t set(void* data, unsigned value, unsigned bytes, std::size_t width,
                      const Nodes& before = {}) {
    cudaMemsetParams parameters{};
    parameters.dst = data;
    parameters.value = value;
    parameters.elementSize = bytes;
    parameters.width = width;
    parameters.height = 1;
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddMemsetNode(&node, graph, before.data(), before.size(), &parameters), cudaSuccess);
    return node;
  }

  cudaGraphNode_t copy(void* to, const void* from, std::size_t bytes, const Nodes& before = {}) {
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddMemcpyNode1D(&node, graph, before.data(), before.size(), to, from, bytes,
                                       cudaMemcpyDefault),
              cudaSuccess);
    return node;
  }

  void run() const {
    cudaGraphExec_t program = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&program, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(program, nullptr), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaGraphExecDestroy(program), cudaSuccess);
  }

  cudaGraph_t graph = nullptr;
};

TEST(GraphNodes, RunInTheirOrder) {
  float* const data = device_floats(4, 7);
  float* const result = pinned_floats(4, 0);
  BuiltGraph built;
  const cudaGraphNode_t set = built.set(data, 0x40000000, 4, 4);  // 2.0
  const cudaGraphNode_t added = built.add_value(data, 1, 4, {set});
  const cudaGraphNode_t copied = built.copy(result, data, 16, {added});
  cudaHostNodeParams function{[](void* values) { static_cast<float*>(values)[0] *= 10; }, result};
  cudaGraphNode_t called = nullptr;
  ASSERT_EQ(cudaGraphAddHostNode(&called, built.graph, &copied, 1, &function), cudaSuccess);
  built.run();
  EXPECT_EQ(result[0], 30);
  EXPECT_EQ(result[3], 3);
  std::size_t count = 0;
  ASSERT_EQ(cudaGraphGetNodes(built.graph, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 4U);
  cudaGraphNodeType type{};
  ASSERT_EQ(cudaGraphNodeGetType(called, &type), cudaSuccess);
  EXPECT_EQ(type, cudaGraphNodeTypeHost);
}

// Among nodes that nothing orders, the last one runs first: a missing edge shows.
TEST(GraphNodes, AnEdgeIsAddedLater) {
  float* const data = device_floats(1, 0);
  BuiltGraph built;
  const cudaGraphNode_t set = built.set(data, 0, 1, 4);
  const cudaGraphNode_t added = built.add_value(data, 5, 1);
  built.run();
  EXPECT_EQ(value_at(data), 0);
  ASSERT_EQ(cudaGraphAddDependencies(built.graph, &set, &added, nullptr, 1), cudaSuccess);
  built.run();
  EXPECT_EQ(value_at(data), 5);
}

TEST(GraphNodes, AnEmptyNodeJoins) {
  float* const data = device_floats(2, 0);
  BuiltGraph built;
  const std::vector<cudaGraphNode_t> both{built.set(data, 0, 2, 2), built.set(data + 1, 0, 1, 4)};
  cudaGraphNode_t joined = nullptr;
  ASSERT_EQ(cudaGraphAddEmptyNode(&joined, built.graph, both.data(), both.size()), cudaSuccess);
  built.add_value(data, 3, 2, {joined});
  built.run();
  EXPECT_EQ(value_at(data, 0), 3);
  EXPECT_EQ(value_at(data, 1), 3);
}

TEST(GraphNodes, AChildIsCopiedWhenItIsAdded) {
  float* const data = device_floats(1, 1);
  BuiltGraph child;
  child.add_value(data, 1, 1);
  BuiltGraph parent;
  cudaGraphNode_t first = nullptr;
  cudaGraphNode_t second = nullptr;
  ASSERT_EQ(cudaGraphAddChildGraphNode(&first, parent.graph, nullptr, 0, child.graph), cudaSuccess);
  child.add_value(data, 100, 1);
  ASSERT_EQ(cudaGraphAddChildGraphNode(&second, parent.graph, &first, 1, child.graph), cudaSuccess);
  parent.run();
  EXPECT_EQ(value_at(data), 103);
}

TEST(GraphNodes, ACloneDoesNotChangeWithItsOriginal) {
  float* const data = device_floats(1, 0);
  BuiltGraph original;
  const cudaGraphNode_t set = original.set(data, 0, 1, 4);
  original.add_value(data, 2, 1, {set});
  BuiltGraph clone;
  ASSERT_EQ(cudaGraphClone(&clone.graph, original.graph), cudaSuccess);
  original.add_value(data, 100, 1, {set});
  clone.run();
  EXPECT_EQ(value_at(data), 2);
}

TEST(GraphNodes, RefuseWhatIsWrong) {
  BuiltGraph built;
  BuiltGraph other;
  const cudaGraphNode_t foreign = other.set(device_floats(1, 0), 0, 1, 4);
  cudaGraphNode_t node = nullptr;
  EXPECT_EQ(cudaGraphAddEmptyNode(&node, built.graph, &foreign, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddMemcpyNode1D(&node, built.graph, nullptr, 0, nullptr, nullptr, 4, cudaMemcpyDefault),
            cudaErrorInvalidValue);
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = 5;
  parameters.conditional.size = 1;
  EXPECT_EQ(cudaGraphAddNode(&node, built.graph, nullptr, nullptr, 0, &parameters), cudaErrorInvalidValue);
  std::size_t count = 0;
  ASSERT_EQ(cudaGraphGetNodes(built.graph, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 0U) << "a node that is refused is not added";
  cudaGetLastError();
}

}  // namespace
}  // namespace simulated::graph_nodes_test
