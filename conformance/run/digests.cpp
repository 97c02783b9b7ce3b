#include "run/digests.h"

#include <c10/util/hash.h>
#include <dlfcn.h>

#include "base/files.h"

namespace opgate {

std::string libraries_digest(const Setup& setup) {
  std::string bytes = setup.sources;
  for (const auto* files : {&setup.libraries, &setup.specs}) {
    for (const std::string& file : *files) bytes += content_of(file);
  }
  return c10::sha1(bytes).str();
}

std::string engine_digest() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&engine_digest), &info);
  return c10::sha1(content_of(info.dli_fname)).str();
}

}  // namespace opgate
