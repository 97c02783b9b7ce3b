// What the engine knows about a TorchBind class, besides what every Spec holds.
#pragma once

#include <ATen/core/class_type.h>
#include <opgate/class_spec.h>

#include <string>
#include <vector>

namespace opgate {

/// One method: the model's function for it, and the argument sets with which it may be called at any time.
struct ClassMethod : ModelMethod {
  std::vector<Sample> calls;
  bool may_share = false;  ///< its result may share memory with an argument or with the object
  std::string where;       ///< file:line
};

struct ClassPromises {
  ModelConstructor model;
  std::vector<ClassMethod> methods;
  bool exported = true;    ///< meant for torch.export
  c10::ClassTypePtr type;  ///< set by fit_to_class()
};

}  // namespace opgate
