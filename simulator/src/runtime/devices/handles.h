// What the program holds as a pointer of a type that it cannot see: a stream, an event, a graph. Unknown
// handles are refused.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>

#include "runtime/findings/errors.h"

namespace opgate::simulator {

template <class Handle, class Object>
class Handles {
 public:
  Handle add(std::shared_ptr<Object> object) {
    const auto handle = reinterpret_cast<Handle>(object.get());
    objects_.emplace(handle, std::move(object));
    return handle;
  }

  bool holds(Handle handle) const { return objects_.contains(handle); }

  const std::shared_ptr<Object>& at(Handle handle) const {
    const auto found = objects_.find(handle);
    if (found == objects_.end()) refuse(cudaErrorInvalidResourceHandle);
    return found->second;
  }

  /// Forgets the handle; the object lives for as long as work needs it.
  std::shared_ptr<Object> remove(Handle handle) {
    std::shared_ptr<Object> object = at(handle);
    objects_.erase(handle);
    return object;
  }

 private:
  std::unordered_map<Handle, std::shared_ptr<Object>> objects_;
};

}  // namespace opgate::simulator
