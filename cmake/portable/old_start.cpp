// The start of a program under the version that glibc 2.28 has; for programs alone, since libraries have no
// main.
//
// Since 2.34 the C library runs the program's constructors itself. Before, the program passed a function that
// does.
#if defined(__x86_64__)
#define OPGATE_OLDEST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OPGATE_OLDEST "GLIBC_2.17"
#endif

extern "C" {

using Main = int (*)(int, char**, char**);
using Constructor = void (*)(int, char**, char**);
using Ending = void (*)();

// The linker defines these.
extern __attribute__((visibility("hidden"))) Constructor __preinit_array_start[];
extern __attribute__((visibility("hidden"))) Constructor __preinit_array_end[];
extern __attribute__((visibility("hidden"))) Constructor __init_array_start[];
extern __attribute__((visibility("hidden"))) Constructor __init_array_end[];

int old_start(Main, int, char**, Constructor, Ending, Ending, void*);
__asm__(".symver old_start,__libc_start_main@" OPGATE_OLDEST);

static void construct(int count, char** words, char** environment) {
  for (Constructor* each = __preinit_array_start; each != __preinit_array_end; ++each) {
    (*each)(count, words, environment);
  }
  for (Constructor* each = __init_array_start; each != __init_array_end; ++each) {
    (*each)(count, words, environment);
  }
}

__attribute__((visibility("hidden"))) int opgate_start(Main main, int count, char** words, Constructor,
                                                       Ending, Ending at_exit,
                                                       void* stack) __asm__("__libc_start_main");
// The loader runs the program's destructors, so that there is none to pass.
int opgate_start(Main main, int count, char** words, Constructor, Ending, Ending at_exit, void* stack) {
  return old_start(main, count, words, construct, nullptr, at_exit, stack);
}
}
