// libcudart.so.12 for programs that were built for CUDA 12. It has nothing but jumps to the simulated
// libcudart.so.13, which has the devices: a program may load libraries for both. The build writes
// functions_of_12.inc.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#if defined(__x86_64__)
#define OPGATE_SIM_JUMP_TO(place) "jmp *" place "(%rip)\n"
#elif defined(__aarch64__)
#define OPGATE_SIM_JUMP_TO(place) "adrp x16, " place "\nldr x16, [x16, :lo12:" place "]\nbr x16\n"
#else
#error "The simulated libcudart.so.12 needs a jump for this processor."
#endif

// A jump leaves all arguments where they are, so that their types do not matter. Its aim is found in the
// other library: the symbol here has the same name, and the linker cannot tell them apart.
#define OPGATE_SIM_PASS_ON(name, target)                            \
  extern "C" void* opgate_sim_aim_of_##name;                        \
  void* opgate_sim_aim_of_##name = nullptr;                         \
  asm(".text\n.globl " #name "\n.type " #name ", %function\n" #name \
      ":\n" OPGATE_SIM_JUMP_TO("opgate_sim_aim_of_" #name) ".size " #name ", . - " #name "\n");
#include "functions_of_12.inc"
#undef OPGATE_SIM_PASS_ON

namespace {

struct Function {
  const char* target;
  void** aim;
};

const Function kFunctions[] = {
#define OPGATE_SIM_PASS_ON(name, target) {#target, &opgate_sim_aim_of_##name},
#include "functions_of_12.inc"
#undef OPGATE_SIM_PASS_ON
};

// Before any code of the program: nvcc's registers kernels while a library is loaded.
__attribute__((constructor)) void find_functions() {
  void* const devices = dlopen("libcudart.so.13", RTLD_NOW | RTLD_NOLOAD);
  for (const Function& function : kFunctions) {
    *function.aim = devices == nullptr ? nullptr : dlsym(devices, function.target);
    if (*function.aim != nullptr) continue;
    std::fprintf(stderr,
                 "opgate sim: the libcudart.so.13 of this process has no %s: it is not the simulated one\n",
                 function.target);
    std::_Exit(2);
  }
}

}  // namespace
