// The folder in which compiled kernels are kept, also for other processes.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compiled/c_compiler.h"
#include "compiled/digest.h"

namespace opgate::simulator {

/// A shared object that is loaded for as long as anything holds it.
using LoadedObject = std::shared_ptr<void>;

class ObjectCache {
 public:
  /// $OPGATE_SIM_CACHE, or opgate/kernels in the folder for caches of XDG. Empty if neither is known.
  static std::string default_folder();

  explicit ObjectCache(std::string folder) : folder_(std::move(folder)) {}

  /// Null if the folder has no such object, or one that is not whole.
  LoadedObject load(const Digest& key) const;

  /// Compiles the code and keeps the object. Null if that fails, with the reason.
  LoadedObject build(const Digest& key, const std::string& code, const CCompiler& compiler,
                     std::string& why) const;

  std::string path_of(const Digest& key) const { return folder_ + "/" + in_hexadecimal(key) + ".so"; }

 private:
  std::string folder_;
};

}  // namespace opgate::simulator
