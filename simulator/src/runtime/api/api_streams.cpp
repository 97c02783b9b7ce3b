// Streams, and functions of the host in them.
#include "runtime/api/api.h"

using namespace opgate::simulator;

OPGATE_SIM_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* result, unsigned flags, int priority) {
  return api_call(give(result, [&](Simulator& simulator) {
    return simulator.streams.create(devices::current(), flags, priority);
  }));
}

OPGATE_SIM_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* result, unsigned flags) {
  return cudaStreamCreateWithPriority(result, flags, 0);
}

OPGATE_SIM_API cudaError_t cudaStreamCreate(cudaStream_t* result) {
  return cudaStreamCreateWithPriority(result, cudaStreamDefault, 0);
}

OPGATE_SIM_API cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return api_release([&](Simulator& simulator) {
    const auto stream = simulator.stream(handle);
    if (stream->capture != nullptr) stream->capture->invalidate();
    simulator.streams.destroy(handle);
  });
}

OPGATE_SIM_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return api_call(give(priority, [&](Simulator& simulator) { return simulator.stream(stream)->priority; }));
}

OPGATE_SIM_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return api_call(give(flags, [&](Simulator& simulator) { return simulator.stream(stream)->flags; }));
}

OPGATE_SIM_API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return api_call(give(id, [&](Simulator& simulator) { return simulator.stream(stream)->id; }));
}

OPGATE_SIM_API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return api_call(give(device, [&](Simulator& simulator) { return simulator.stream(stream)->device; }));
}

OPGATE_SIM_API cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return api_call([&](Simulator& simulator) {
    const auto stream = simulator.stream(handle);
    simulator.captures.refuse_captured(*stream);
    simulator.execution.refuse_implicit_capture(*stream);
    simulator.captures.refuse_unsafe_call();
    if (stream->idle()) {
      simulator.execution.host_knows(stream->end());
      return;
    }
    simulator.execution.advance(*stream);
    refuse(cudaErrorNotReady);
  });
}

OPGATE_SIM_API cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return api_call([&](Simulator& simulator) {
    const auto stream = simulator.stream(handle);
    simulator.captures.refuse_captured(*stream);
    simulator.captures.refuse_unsafe_call();
    simulator.execution.finish(*stream);
  });
}

OPGATE_SIM_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return api_call([&](Simulator& simulator) {
    if (flags == cudaEventWaitExternal)
      refuse(cudaErrorNotSupported, "an external wait for an event in a graph, which is not simulated");
    if (flags != cudaEventWaitDefault) refuse(cudaErrorInvalidValue);
    simulator.events.at(event)->make_wait(simulator.execution, *simulator.stream(stream));
  });
}

OPGATE_SIM_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return api_call([&](Simulator& simulator) {
    if (function == nullptr) refuse(cudaErrorInvalidValue);
    simulator.execution.issue(
        *simulator.stream(stream),
        {[function, data] { Execution::call_host([=] { function(data); }); }, cudaGraphNodeTypeHost});
  });
}

// Unlike functions of cudaLaunchHostFunc, such a callback is called after a fault too, and given its error.
OPGATE_SIM_API cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback,
                                                 void* data, unsigned flags) {
  return api_call([&](Simulator& simulator) {
    if (callback == nullptr || flags != 0) refuse(cudaErrorInvalidValue);
    const auto stream = simulator.stream(handle);
    simulator.captures.refuse_captured(*stream);
    simulator.execution.issue(
        *stream, {[=] { Execution::call_host([=] { callback(handle, errors::sticky(), data); }); },
                  cudaGraphNodeTypeHost, true});
  });
}
