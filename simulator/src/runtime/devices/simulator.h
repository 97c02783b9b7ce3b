// Everything that is simulated, for the functions of the CUDA runtime.
#pragma once

#include <driver_types.h>
#include <texture_types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "runtime/code/binaries.h"
#include "runtime/devices/handles.h"
#include "runtime/findings/stream_watch.h"
#include "runtime/graphs/capture.h"
#include "runtime/graphs/condition.h"
#include "runtime/graphs/graph.h"
#include "runtime/memory/cuda_array.h"
#include "runtime/memory/memory_map.h"
#include "runtime/memory/memory_pools.h"
#include "runtime/streams/event.h"
#include "runtime/streams/execution.h"
#include "runtime/streams/stream.h"
#include "watch/observer.h"

namespace opgate::simulator {

/// `grid.sync()` keeps here how many blocks have arrived.
constexpr std::size_t kBytesOfGridWorkspace = 8;

/// What the program has made a texture or surface of.
struct ImageObjectOrigin {
  cudaResourceDesc resource;
  cudaTextureDesc texture;
};

struct Simulator {
  Simulator();

  /// Changes which tools watch the kernels that begin from now on.
  void watch(const Tools& tools);

  std::unique_ptr<Observer> observer;         ///< null if no tool is asked for
  std::shared_ptr<StreamWatch> stream_watch;  ///< null if the tool `stream` is not asked for
  MemoryMap memory;
  Binaries& binaries;
  Streams streams;
  Execution execution;
  Captures captures;
  MemoryPools pools;
  std::set<std::uint64_t> memory_of_graphs;  ///< that torch allocated while it captured one; never freed
  std::uint64_t launches = 0;
  unsigned launches_to_refusal = 0;              ///< the last of so many launches is refused; 0: none is
  std::string refused_launch;                    ///< the kernel of a launch that was refused for this reason
  unsigned char fill_of_kernels;                 ///< what shared and local memory holds when a block begins
  std::map<int, std::uint64_t> grid_workspaces;  ///< by device
  Handles<cudaEvent_t, Event> events;
  Handles<cudaGraph_t, Graph> graphs;
  Handles<cudaGraphExec_t, GraphProgram> graph_programs;
  Handles<cudaUserObject_t, UserObject> user_objects;
  Handles<cudaArray_t, CudaArray> arrays;
  std::map<std::uint64_t, ImageObjectOrigin> image_objects;      ///< textures and surfaces, by their handles
  std::map<std::uint64_t, std::weak_ptr<Condition>> conditions;  ///< by their handles

  /// Device memory of kBytesOfGridWorkspace bytes, for the cooperative launches of a device, of which one
  /// runs at a time.
  std::uint64_t grid_workspace(int device);

  /// The stream of a handle that a function got, with the calling thread's current device.
  std::shared_ptr<Stream> stream(cudaStream_t handle);
};

/// Made by the first function that needs it, and never destroyed: libraries free their memory while the
/// process ends.
Simulator& simulator();

/// Null before the first function that needs it, and in a child process.
Simulator* simulator_in_use();

}  // namespace opgate::simulator
