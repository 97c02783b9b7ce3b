#include "runtime/graphs/graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "runtime/findings/errors.h"
#include "runtime/graphs/condition.h"
#include "runtime/graphs/graph_memory.h"
#include "runtime/streams/execution.h"

namespace opgate::simulator {

void UserObject::release(unsigned count) {
  if (count > count_) refuse(cudaErrorInvalidValue);
  count_ -= count;
  if (count_ == 0) Execution::call_host([this] { destroy_(data_); });
}

Graph::~Graph() {
  for (const auto& [object, count] : kept_) object->release(count);
}

GraphNode* Graph::add(Work work, std::vector<GraphNode*> dependencies) {
  nodes_.push_back(std::make_unique<GraphNode>(GraphNode{std::move(work), std::move(dependencies)}));
  return nodes_.back().get();
}

std::shared_ptr<Graph> Graph::clone() const {
  auto copy = std::make_shared<Graph>();
  std::map<const GraphNode*, GraphNode*> copies;
  for (const auto& node : nodes_) {
    copies[node.get()] = copy->add(node->work, {});
    copies[node.get()]->conditional = node->conditional;
  }
  for (const auto& node : nodes_) {
    for (GraphNode* const before : node->dependencies)
      copies[node.get()]->dependencies.push_back(copies.at(before));
  }
  copy->conditions_ = conditions_;
  return copy;
}

void Graph::keep(std::shared_ptr<UserObject> object, unsigned count) {
  kept_.emplace_back(std::move(object), count);
}

bool Graph::holds(const GraphNode* node) const {
  return std::ranges::any_of(nodes_, [node](const auto& own) { return own.get() == node; });
}

bool Graph::all_before(const std::vector<GraphNode*>& nodes, const std::vector<GraphNode*>& ends) {
  std::set<const GraphNode*> reached;
  std::vector<GraphNode*> open = ends;
  while (!open.empty()) {
    const GraphNode* const node = open.back();
    open.pop_back();
    if (!reached.insert(node).second) continue;
    open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return std::ranges::all_of(nodes, [&](const GraphNode* node) { return reached.contains(node); });
}

GraphProgram::GraphProgram(const Graph& graph, bool frees_on_launch)
    : frees_on_launch_(frees_on_launch), conditions_(graph.conditions()) {
  std::vector<const GraphNode*> open;
  for (const auto& node : graph.nodes()) open.push_back(node.get());
  std::set<const GraphNode*> placed;
  const auto ready = [&](const GraphNode* node) {
    return std::ranges::all_of(node->dependencies,
                               [&](const GraphNode* before) { return placed.contains(before); });
  };
  while (!open.empty()) {
    const auto last_ready = std::find_if(open.rbegin(), open.rend(), ready);
    if (last_ready == open.rend()) refuse(cudaErrorInvalidValue, "a graph whose nodes wait for each other");
    placed.insert(*last_ready);
    Step& step = steps_.emplace_back(Step{(*last_ready)->work, (*last_ready)->conditional, {}});
    if (step.conditional != nullptr) {
      for (const auto& body : step.conditional->bodies)
        step.bodies.push_back(std::make_shared<GraphProgram>(*body));
    }
    open.erase(std::next(last_ready).base());
  }
}

void GraphProgram::run(Execution& execution) const {
  prepare();
  run_steps(execution);
}

void GraphProgram::prepare() const {
  for (const auto& condition : conditions_) condition->begin_launch();
  for (const Step& step : steps_) {
    if (frees_on_launch_ && step.work.allocates != nullptr) step.work.allocates->end_if_in_use();
    for (const auto& body : step.bodies) body->prepare();
  }
}

void GraphProgram::run_steps(Execution& execution) const {
  for (const Step& step : steps_) {
    execution.run(step.work);
    if (step.conditional != nullptr) run_bodies(step, execution);
  }
}

void GraphProgram::run_bodies(const Step& step, Execution& execution) {
  const auto value = [&] { return step.conditional->condition->value(); };
  switch (step.conditional->type) {
    case cudaGraphCondTypeWhile:
      while (errors::sticky() == cudaSuccess && value() != 0) step.bodies.front()->run_steps(execution);
      break;
    case cudaGraphCondTypeIf:
      if (value() != 0)
        step.bodies.front()->run_steps(execution);
      else if (step.bodies.size() > 1)
        step.bodies[1]->run_steps(execution);
      break;
    case cudaGraphCondTypeSwitch:
      if (value() < step.bodies.size()) step.bodies[value()]->run_steps(execution);
      break;
  }
}

}  // namespace opgate::simulator
