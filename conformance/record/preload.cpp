// libopgate_preload.so, named in LD_PRELOAD: loads libopgate_record.so into every program that is linked
// with torch, and does nothing in any other program. It needs no library itself, so that it costs nothing
// in the shells and compilers that the recorded command may start.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

__attribute__((constructor)) void load_recorder() {
  const char* const recorder = std::getenv("OPGATE_RECORD_LIBRARY");
  if (recorder == nullptr) return;
  void* const torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (torch == nullptr) return;
  dlclose(torch);  // releases only this handle: the program keeps libtorch loaded
  if (dlopen(recorder, RTLD_NOW) == nullptr)
    std::fprintf(stderr, "opgate record: nothing is recorded in this program: %s\n", dlerror());
}

}  // namespace
