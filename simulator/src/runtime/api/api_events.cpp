// Events.
#include "runtime/api/api.h"

using namespace opgate::simulator;

OPGATE_SIM_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* result, unsigned flags) {
  return api_call([&](Simulator& simulator) {
    require(result);
    if ((flags & cudaEventInterprocess) != 0)
      refuse(cudaErrorNotSupported, "an event for several processes, which is not simulated");
    constexpr unsigned kKnown = cudaEventBlockingSync | cudaEventDisableTiming;
    if ((flags & ~kKnown) != 0) refuse(cudaErrorInvalidValue);
    *result = simulator.events.add(std::make_shared<Event>(devices::current(), flags));
  });
}

OPGATE_SIM_API cudaError_t cudaEventCreate(cudaEvent_t* result) {
  return cudaEventCreateWithFlags(result, cudaEventDefault);
}

OPGATE_SIM_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return api_release([&](Simulator& simulator) { simulator.events.remove(event); });
}

OPGATE_SIM_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return api_call([&](Simulator& simulator) {
    if (flags == cudaEventRecordExternal)
      refuse(cudaErrorNotSupported, "an external record of an event in a graph, which is not simulated");
    if (flags != cudaEventRecordDefault) refuse(cudaErrorInvalidValue);
    simulator.events.at(event)->record(simulator.execution, *simulator.stream(stream));
  });
}

OPGATE_SIM_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

OPGATE_SIM_API cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return api_call([&](Simulator& simulator) {
    const std::shared_ptr<Event> event = simulator.events.at(handle);
    event->refuse_captured();
    simulator.captures.refuse_unsafe_call();
    if (event->reached()) {
      simulator.execution.host_knows(event->mark());
      return;
    }
    simulator.execution.advance(*event->mark().stream);
    refuse(cudaErrorNotReady);
  });
}

OPGATE_SIM_API cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return api_call([&](Simulator& simulator) {
    const std::shared_ptr<Event> event = simulator.events.at(handle);
    event->refuse_captured();
    simulator.captures.refuse_unsafe_call();
    simulator.execution.finish(event->mark());
  });
}

OPGATE_SIM_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return api_call([&](Simulator& simulator) {
    require(milliseconds);
    const std::shared_ptr<Event> begin = simulator.events.at(from);
    const std::shared_ptr<Event> end = simulator.events.at(to);
    begin->refuse_captured();
    end->refuse_captured();
    *milliseconds = Event::elapsed(*begin, *end);
  });
}
