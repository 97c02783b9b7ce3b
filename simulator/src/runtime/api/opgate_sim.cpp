#include <opgate_sim.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/ptx_hook.h"
#include "runtime/api/api.h"
#include "runtime/devices/settings.h"
#include "runtime/findings/report.h"
#include "runtime/findings/tool_findings.h"
#include "runtime/launches/torch_operators.h"
#include "runtime/memory/host_fault.h"
#include "watch/race/launches_in_flight.h"

using namespace opgate::simulator;

namespace {

std::atomic<int> aten_at_once{-1};

void tell_accesses(MemoryMap& memory, const std::string& operation,
                   const std::vector<OpgateSimAccess>& accesses) {
  for (const OpgateSimAccess& access : accesses) {
    const auto begin = reinterpret_cast<std::uint64_t>(access.begin);
    if (access.writes != 0) {
      memory.note_write(operation, begin, access.bytes);
    } else {
      memory.note_read(operation, begin, access.bytes);
      memory.note_use(operation, begin, access.bytes);
    }
  }
}

// As much of the text as there is room for. Gives its whole length.
std::size_t give_text(const std::string& text, char* to, std::size_t bytes) {
  if (bytes > 0) to[text.copy(to, bytes - 1)] = '\0';
  return text.size();
}

// For a kernel that is launched next and may begin early.
std::shared_ptr<LaunchesInFlight> launches_behind(const Simulator& simulator, const std::string& operation,
                                                  const std::vector<OpgateSimAccess>& accesses) {
  if (simulator.observer == nullptr || !simulator.observer->tools().follow_early_launches()) return nullptr;
  std::vector<ByteRange> written;
  for (const OpgateSimAccess& access : accesses) {
    if (access.writes != 0) written.push_back({reinterpret_cast<std::uint64_t>(access.begin), access.bytes});
  }
  auto launches = std::make_shared<LaunchesInFlight>();
  launches->add_operation(operation, written);
  return launches;
}

// If the host has not waited for a kernel, it runs here: later, its failure would be that of another call.
void complete_what_was_issued() {
  if (simulator_in_use() == nullptr || Execution::in_host_call()) return;
  static_cast<void>(api_answer([](Simulator& simulator) { simulator.execution.complete_all(); }));
}

}  // namespace

OPGATE_SIM_API void* opgate_sim_host_view(const void* pointer) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  void* view = const_cast<void*>(pointer);
  api_answer([&](Simulator& simulator) {
    if (!simulator.memory.range().holds(address)) return;
    view = simulator.memory.range().alias(address);
    simulator.memory.mark_allocation_written(address);
  });
  return view;
}

OPGATE_SIM_API int opgate_sim_launch(void* stream, void (*function)(void*), void* data, const char* operation,
                                     const OpgateSimAccess* accesses, std::size_t count) {
  return api_call([&](Simulator& simulator) {
    const auto run = [&simulator, function, data, name = std::string(operation),
                      all = std::vector(accesses, accesses + count)] {
      tell_accesses(simulator.memory, name, all);
      simulator.execution.running().launches = launches_behind(simulator, name, all);
      const Unlocked unlocked;
      function(data);
    };
    simulator.execution.issue(*simulator.stream(static_cast<cudaStream_t>(stream)),
                              {run, cudaGraphNodeTypeKernel});
  });
}

OPGATE_SIM_API int opgate_sim_note_accesses(const char* operation, const OpgateSimAccess* accesses,
                                            std::size_t count) {
  return api_answer([&](Simulator& simulator) {
    for (const OpgateSimAccess& access : std::span(accesses, count)) {
      const auto begin = reinterpret_cast<std::uint64_t>(access.begin);
      if (access.writes != 0) {
        simulator.memory.mark_written(begin, access.bytes);
      } else {
        simulator.memory.note_use(operation, begin, access.bytes);
      }
    }
  });
}

OPGATE_SIM_API void opgate_sim_fail(const char* message) { errors::set_sticky(cudaErrorAssert, message); }

OPGATE_SIM_API void opgate_sim_note_unsupported(const char* what) { errors::note_unsupported(what); }

OPGATE_SIM_API int opgate_sim_take_failure(char* text, std::size_t bytes) {
  complete_what_was_issued();
  const auto [error, fault] = errors::take_failure();
  give_text(std::string(error_text(error)) + '\n' + fault.message + '\n' + fault.kernel + '\n' +
                fault.place.location,
            text, bytes);
  return (error != cudaSuccess ? 1 : 0) | (fault.kind == Finding::Kind::unsupported ? 2 : 0);
}

OPGATE_SIM_API int opgate_sim_watch(const char* names) {
  return api_call([&](Simulator& simulator) {
    std::string unknown;
    const Tools tools = Tools::parse(names, unknown);
    if (!unknown.empty()) refuse(cudaErrorInvalidValue, "no tool is named " + unknown);
    simulator.watch(tools);
    tool_findings::forget();
  });
}

OPGATE_SIM_API std::size_t opgate_sim_take_finding(char* text, std::size_t bytes) {
  const std::optional<std::string> line = tool_findings::oldest();
  if (!line) return 0;
  if (line->size() < bytes) tool_findings::remove_oldest();
  return give_text(*line, text, bytes);
}

OPGATE_SIM_API int opgate_sim_will_wait(const void* pointer, void* stream) {
  return api_call([&](Simulator& simulator) {
    if (simulator.stream_watch == nullptr) return;
    simulator.stream_watch->will_wait(reinterpret_cast<std::uint64_t>(pointer),
                                      *simulator.stream(static_cast<cudaStream_t>(stream)));
  });
}

OPGATE_SIM_API int opgate_sim_hold_up(void* stream) {
  return api_call(
      [&](Simulator& simulator) { simulator.stream(static_cast<cudaStream_t>(stream))->held_up = true; });
}

OPGATE_SIM_API void opgate_sim_survive_host_faults() { survive_host_faults(); }

OPGATE_SIM_API int opgate_sim_restart_block_orders(unsigned number) {
  return api_answer([&](Simulator& simulator) { simulator.launches = std::uint64_t{number} << 32; });
}

OPGATE_SIM_API int opgate_sim_refuse_launch(unsigned number) {
  return api_answer([&](Simulator& simulator) {
    simulator.launches_to_refusal = number;
    simulator.refused_launch.clear();
  });
}

// Without a HostCall: the process may fork before it uses a device, which it could not do afterwards.
OPGATE_SIM_API void opgate_sim_hook_ptx(const OpgateSimPtxHook* hook) { set_ptx_hook(hook); }

OPGATE_SIM_API std::size_t opgate_sim_take_refused_launch(char* name, std::size_t bytes) {
  std::string kernel;
  api_answer([&](Simulator& simulator) { kernel = std::exchange(simulator.refused_launch, {}); });
  return give_text(kernel, name, bytes);
}

OPGATE_SIM_API std::size_t opgate_sim_take_refused_in_capture(char* name, std::size_t bytes) {
  return give_text(errors::take_refused_in_capture(), name, bytes);
}

OPGATE_SIM_API int opgate_sim_fill_kernels(int byte) {
  return api_answer([&](Simulator& simulator) {
    simulator.fill_of_kernels = byte < 0 ? settings().fill : static_cast<unsigned char>(byte);
  });
}

OPGATE_SIM_API int opgate_sim_peek(void* to, const void* from, std::size_t bytes) {
  bool is_known = false;
  api_answer([&](Simulator& simulator) {
    std::string why;
    const Location place = simulator.memory.locate(from, bytes, why);
    if (errors::sticky() != cudaSuccess || Execution::in_host_call() || simulator.captures.any()) return;
    if (!why.empty()) return;
    simulator.execution.complete_all();
    if (errors::sticky() != cudaSuccess) return;
    std::memcpy(to, place.data, bytes);
    is_known = true;
  });
  return is_known ? 1 : 0;
}

OPGATE_SIM_API void opgate_sim_join_turns(unsigned threads, unsigned position) {
  join_turns(threads, position);
}

OPGATE_SIM_API void opgate_sim_leave_turns() { leave_turns(); }

OPGATE_SIM_API std::size_t opgate_sim_wrong_settings(char* text, std::size_t bytes) {
  std::string lines;
  for (const std::string& wrong : wrong_settings()) lines += (lines.empty() ? "" : "\n") + wrong;
  return give_text(lines, text, bytes);
}

OPGATE_SIM_API int opgate_sim_name_parameters(void* function, const char* names) {
  return api_answer([&](Simulator& simulator) {
    std::vector<std::string>& known =
        simulator.binaries.kernel(static_cast<cudaKernel_t>(function))->parameter_names;
    known.clear();
    std::istringstream lines(names);
    for (std::string name; std::getline(lines, name);) known.push_back(name);
  });
}

OPGATE_SIM_API void opgate_sim_run_aten_at_once(int at_once) { aten_at_once = at_once; }

OPGATE_SIM_API int opgate_sim_aten_at_once() {
  const int chosen = aten_at_once;
  return chosen < 0 ? static_cast<int>(settings().aten_at_once) : chosen;
}

OPGATE_SIM_API void opgate_sim_replace_kernels_of_torch() { load_operators_of_torch(); }

OPGATE_SIM_API int opgate_sim_log() { return settings().log ? 1 : 0; }

OPGATE_SIM_API int opgate_sim_autotunes_all() { return settings().autotunes_all ? 1 : 0; }
