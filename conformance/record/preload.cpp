// libopgate_preload.so, named in LD_PRELOAD: loads libopgate_record.so into every program that is linked
// with torch, and does nothing in any other program. It needs no library itself, so that it costs nothing
// in the shells and compilers that the recorded command may start.
#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// Prints the version that stands in torch/version.py, two folders above torch's library: `__version__ =
// '2.11.0+cpu'`.
void print_version_beside(void* torch) {
  link_map* library = nullptr;
  std::array<char, 4096> file{};
  if (dlinfo(torch, RTLD_DI_LINKMAP, &library) != 0) return;
  std::snprintf(file.data(), file.size(), "%s", library->l_name);
  for (int folders = 0; folders < 2; ++folders) {
    if (char* const slash = std::strrchr(file.data(), '/')) *slash = '\0';
  }
  std::strncat(file.data(), "/version.py", file.size() - std::strlen(file.data()) - 1);
  std::FILE* const stream = std::fopen(file.data(), "r");
  if (stream == nullptr) return;
  std::array<char, 256> line{}, version{};
  while (std::fgets(line.data(), line.size(), stream) != nullptr) {
    if (std::sscanf(line.data(), "__version__ = '%255[^']'", version.data()) != 1) continue;
    const char* const mine = std::getenv("OPGATE_RECORD_TORCH");
    std::fprintf(stderr, "opgate record: the program uses torch %s, and this OpGate is built for torch %s\n",
                 version.data(), mine == nullptr ? "of another version" : mine);
    break;
  }
  std::fclose(stream);
}

__attribute__((constructor)) void load_recorder() {
  const char* const recorder = std::getenv("OPGATE_RECORD_LIBRARY");
  if (recorder == nullptr) return;
  void* const torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (torch == nullptr) return;
  if (dlopen(recorder, RTLD_NOW) == nullptr) {
    std::fprintf(stderr, "opgate record: nothing is recorded in this program: %s\n", dlerror());
    print_version_beside(torch);
  }
  dlclose(torch);  // releases only this handle: the program keeps libtorch loaded
}

}  // namespace
