// A check: one promise with a public id, the calls it is planned for, and the judge that looks at the
// evidence. One file each beside this one (or in python/opgate/checks), found by registration.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "base/explanation.h"
#include "base/registry.h"
#include "call/evidence.h"
#include "checks/scope.h"
#include "checks/verdict.h"

namespace opgate {

/// The kind of process that judges: the engine alone, the Python half, or the engine with AOTInductor
/// packages loaded.
enum class Worker { native, python, aoti };

std::string_view to_string(Worker worker);
Worker worker_from_string(std::string_view text);

struct Check {
  std::string name;  ///< the id: "value.layout"
  Explanation explanation;
  Worker worker = Worker::native;
  Scope scope;
  bool needs_package = false;  ///< an AOTInductor package of the call must have been made
  Judgement (*judge)(Evidence& evidence) = nullptr;  ///< none for checks of the Python half

  /// "value" of "value.layout"
  std::string_view group() const { return std::string_view(name).substr(0, name.find('.')); }
};

/// A check of the Python half, as its worker describes it. Throws nlohmann::json::exception.
Check check_from_json(const nlohmann::json& described);

}  // namespace opgate

#define OPGATE_REGISTER_CHECK(identifier, ...)                 \
  [[maybe_unused]] static const bool identifier##_registered = \
      ::opgate::Registry<::opgate::Check>::instance().add(__VA_ARGS__)
