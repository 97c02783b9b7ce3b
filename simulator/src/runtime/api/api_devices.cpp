// Devices, their properties, and access between them.
#include <cstdio>
#include <cstring>
#include <string>

#include "runtime/api/api.h"
#include "runtime/devices/settings.h"
#include "runtime/findings/report.h"
#include "runtime/launches/torch_operators.h"

using namespace opgate::simulator;

// Torch asks for devices before it uses one. Its own kernels are machine code; the library beside this one
// replaces them.
OPGATE_SIM_API cudaError_t cudaGetDeviceCount(int* count) {
  load_operators_of_torch();
  return api_answer(give(count, [&] { return settings().devices; }));
}

OPGATE_SIM_API cudaError_t cudaGetDevice(int* device) {
  return api_answer(give(device, [&] { return devices::current(); }));
}

OPGATE_SIM_API cudaError_t cudaSetDevice(int device) {
  return api_answer([&] { devices::set_current(device); });
}

OPGATE_SIM_API cudaError_t cudaInitDevice(int device, unsigned /*device_flags*/, unsigned /*flags*/) {
  return api_call([&] { devices::require(device); });
}

// How the host waits, which makes no difference here.
OPGATE_SIM_API cudaError_t cudaSetDeviceFlags(unsigned /*flags*/) {
  return api_call([] {});
}

OPGATE_SIM_API cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return api_answer(give(flags, [&] { return cudaDeviceScheduleAuto; }));
}

OPGATE_SIM_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return api_answer(give(properties, [&] { return devices::properties(device); }));
}

OPGATE_SIM_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return api_answer([&] {
    require(value);
    const auto known = devices::attribute(attribute, device);
    if (!known && (attribute < cudaDevAttrMaxThreadsPerBlock || attribute >= cudaDevAttrMax))
      refuse(cudaErrorInvalidValue);
    if (!known) {
      errors::note_unsupported("cudaDeviceGetAttribute(" + std::to_string(static_cast<int>(attribute)) + ")");
      refuse(cudaErrorNotSupported);
    }
    *value = *known;
  });
}

OPGATE_SIM_API cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return api_answer([&] {
    require(text);
    const cudaDeviceProp properties = devices::properties(device);
    std::snprintf(text, static_cast<std::size_t>(length), "%04x:%02x:%02x.0", properties.pciDomainID,
                  properties.pciBusID, properties.pciDeviceID);
  });
}

OPGATE_SIM_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api_answer([&] {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
  });
}

OPGATE_SIM_API cudaError_t cudaDeviceSynchronize() {
  return api_call([](Simulator& simulator) {
    const int device = devices::current();
    simulator.captures.refuse_captured_on(device, simulator.streams);
    simulator.captures.refuse_unsafe_call();
    simulator.execution.finish_device(device);
  });
}

OPGATE_SIM_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int owner) {
  return api_answer(give(can, [&] {
    devices::require(device);
    devices::require(owner);
    return device != owner ? 1 : 0;
  }));
}

OPGATE_SIM_API cudaError_t cudaDeviceEnablePeerAccess(int owner, unsigned flags) {
  return api_call([&](Simulator& simulator) {
    devices::require(owner);
    if (flags != 0) refuse(cudaErrorInvalidValue);
    const int device = devices::current();
    if (owner == device) refuse(cudaErrorInvalidDevice);
    if (simulator.memory.may_access(device, owner)) refuse(cudaErrorPeerAccessAlreadyEnabled);
    simulator.memory.enable_peer(device, owner);
  });
}

OPGATE_SIM_API cudaError_t cudaDeviceDisablePeerAccess(int owner) {
  return api_call([&](Simulator& simulator) {
    devices::require(owner);
    simulator.execution.finish_device(devices::current());
    if (!simulator.memory.disable_peer(devices::current(), owner)) refuse(cudaErrorPeerAccessNotEnabled);
  });
}

// Nothing is measured here, so that there is nothing to start or stop.
OPGATE_SIM_API cudaError_t cudaProfilerStart() {
  return api_call([] {});
}

OPGATE_SIM_API cudaError_t cudaProfilerStop() {
  return api_call([] {});
}
