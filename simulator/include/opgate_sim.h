// The functions of the simulated device that are no functions of CUDA, for libraries that take part in the
// simulation and for programs that watch one. Plain C. The libcudart.so.13 of the simulator exports them. A
// caller finds them by dlsym(RTLD_DEFAULT, ...), so that it runs without the simulator as well, and takes
// their types from here. A stream is a cudaStream_t; a result of type int is a cudaError_t if nothing else is
// said.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Where the host can access what lies at a device address; the pointer itself if it is not a device address.
/// The memory may only be accessed in the order of its stream.
void* opgate_sim_host_view(const void* pointer);

/// Device memory that such an operation accesses; `writes` is 0 where it only reads.
typedef struct OpgateSimAccess {
  const void* begin;
  size_t bytes;
  int writes;
} OpgateSimAccess;

/// Runs a function as an operation of a stream. Unlike a function of cudaLaunchHostFunc, it stands for a
/// kernel: it may access device memory, and call the runtime. For the tool `stream`, its name ("aten::add")
/// and what is known of its `count` accesses.
int opgate_sim_launch(void* stream, void (*function)(void*), void* data, const char* operation,
                      const OpgateSimAccess* accesses, size_t count);

/// The host, which has waited for all streams that matter, is about to access device memory for an operation
/// ("aten::item"): for the tool `init`.
int opgate_sim_note_accesses(const char* operation, const OpgateSimAccess* accesses, size_t count);

/// Such a function found a mistake: the device fails from now on with cudaErrorAssert.
void opgate_sim_fail(const char* message);

/// Such a function, or one of the host, needs what is not simulated.
void opgate_sim_note_unsupported(const char* what);

/// What has gone wrong since the last call, after all that was issued has run; the devices work again
/// afterwards. 0: nothing; otherwise the sum of 1, where every later call would have failed, and 2, where
/// something was asked for that is not simulated. `text` gets four lines: the error in words, what happened,
/// the kernel, and the place in its source. The last two may be empty.
int opgate_sim_take_failure(char* text, size_t bytes);

/// The names of all tools that watch kernels, and of the one that counts and finds nothing.
#define OPGATE_SIM_TOOL_NAMES "init,race,sync,stream,traffic"
#define OPGATE_SIM_COUNTING_TOOL "traffic"

/// From now on these tools watch each kernel that begins, instead of those of OPGATE_SIM_TOOLS: names
/// with commas between them, or "" for none. What was written before counts as written, and what was found
/// before is forgotten.
int opgate_sim_watch(const char* tools);

/// Takes what a tool has found, the oldest first: a line of JSON, which finding_from_line() of
/// opgate_sim/finding.h reads. Gives its length, or 0 if there is none. A line for which `bytes` is
/// not larger than its length stays, so that it can be asked for with more room.
size_t opgate_sim_take_finding(char* text, size_t bytes);

/// The code that frees the device memory at the address waits for the stream first: a promise of an
/// allocator that takes memory back in the order of streams, for the tool `stream`.
int opgate_sim_will_wait(const void* pointer, void* stream);

/// Until the host waits for the stream, nothing more of it runs, and what other streams get runs at once
/// where nothing that it must wait for is held up: what a device does while a kernel of that stream takes
/// long.
int opgate_sim_hold_up(void* stream);

/// From now on code of the host that dereferences device memory reads zeros, and opgate_sim_take_failure()
/// tells of it.
void opgate_sim_survive_host_faults(void);

/// The blocks of kernels that are launched from now on begin in the same orders as after each other call with
/// this number, so that what atomic accesses compute has the same bits. No call with another number gives the
/// same orders.
int opgate_sim_restart_block_orders(unsigned number);

/// The launch of this number from now on, from 1, is refused with cudaErrorLaunchOutOfResources; 0: none is.
/// Forgets what opgate_sim_take_refused_launch() would have taken.
int opgate_sim_refuse_launch(unsigned number);

/// For a program that changes the PTX which the device reads. The functions may be called on any thread.
typedef struct OpgateSimPtxHook {
  /// The source that is read instead of this one, with a zero at its end; it is copied. Null: this one.
  const char* (*replace)(const char* ptx, size_t bytes);
  /// A kernel of a module with this source, before it was replaced, is launched.
  void (*launched)(const char* ptx, size_t bytes, const char* kernel);
} OpgateSimPtxHook;

/// From now on, the device asks this hook, which must stay; null: none. Modules that were loaded before are
/// read again at the next launch of one of their kernels. May be called before the process forks.
void opgate_sim_hook_ptx(const OpgateSimPtxHook* hook);

/// Takes the name of the kernel whose launch was refused for that reason: its length, or 0 if there was none.
size_t opgate_sim_take_refused_launch(char* name, size_t bytes);

/// Takes the name of the first function that was refused since the last time because a graph is captured: its
/// length, or 0 where there was none.
size_t opgate_sim_take_refused_in_capture(char* name, size_t bytes);

/// What shared and local memory holds when a block of a kernel that is launched from now on begins: this
/// byte, or that of OPGATE_SIM_FILL where it is negative.
int opgate_sim_fill_kernels(int byte);

/// Copies memory of a device for code that only watches the program. What the device has been given before
/// runs first, and where it fails, the program's own next function fails. 0 where the memory holds nothing
/// that is known: it is not allocated, a kernel has failed, or a graph is captured.
int opgate_sim_peek(void* to, const void* from, size_t bytes);

/// From now on this thread of the host and others, `threads` together, take turns: none calls more functions
/// than another one has called, unless that one waits for something. The one with position 0 begins. Returns
/// once all have joined.
void opgate_sim_join_turns(unsigned threads, unsigned position);
void opgate_sim_leave_turns(void);

/// What is wrong with variables OPGATE_SIM_*, a line for each: its length, and the text where there is room.
/// To be asked before any other function, which would end the process.
size_t opgate_sim_wrong_settings(char* text, size_t bytes);

/// Gives the parameters of a kernel of a module, a CUfunction, their names, one a line, in the order of the
/// PTX; those that a compiler adds after them have none. Findings name them.
int opgate_sim_name_parameters(void* function, const char* names);

/// From now on ATen's operators run when they are called (1), in the order of their streams (0), or as
/// OPGATE_SIM_ATEN_AT_ONCE says (negative).
void opgate_sim_run_aten_at_once(int at_once);
int opgate_sim_aten_at_once(void);

/// Replaces torch's own kernels for CUDA, if torch is loaded and they have not been replaced yet; otherwise
/// the first call of the runtime replaces them. What a program registers afterwards for an operator of torch
/// takes precedence, as it does over torch's kernels on a GPU.
void opgate_sim_replace_kernels_of_torch(void);

/// Whether OPGATE_SIM_LOG is set.
int opgate_sim_log(void);

/// Whether OPGATE_SIM_AUTOTUNE is `all`; the modules of startup/ ask.
int opgate_sim_autotunes_all(void);

#ifdef __cplusplus
}
#endif
