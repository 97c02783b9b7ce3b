// A check: one promise with a public id, the calls that it is planned for, and the function that judges a
// call. Each check is one file of checks/ or of python/opgate/checks/, with a Markdown file that
// explains it, and registers itself.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

#include "base/check_group.h"
#include "base/explanation.h"
#include "base/registry.h"
#include "judging/calls/call_under_test.h"
#include "judging/obstacle.h"
#include "judging/scope.h"

namespace opgate {

struct Judgement;

/// The kind of process that judges: the engine alone, the Python half, or the engine with AOTInductor
/// packages loaded.
enum class Worker { native, python, aoti };

std::string_view to_string(Worker worker);
Worker worker_from_string(std::string_view text);

struct Check {
  std::string name;              ///< the id: "value.layout"
  Explanation explanation = {};  ///< from the Markdown file beside the code: a check does not give it
  Worker worker = Worker::native;
  Scope scope;
  bool slow = false;           ///< it takes seconds, so that other checks of the kind of worker come first
  bool quick = false;          ///< it takes microseconds for few calls: `opgate watch` asks it
  bool explores = false;       ///< it is quick, and explore.samples asks it about samples that are drawn
  bool needs_package = false;  ///< it runs after an AOTInductor package of the call was made
  bool needs_fake = false;     ///< it traces the call, so that it is planned once a fake kernel exists
  bool needs_device = true;    ///< it makes calls; otherwise it is judged on machines without the device, too
  int revision = 1;            ///< raised if a case of the same id is judged otherwise; see revision.h
  std::string missing = {};    ///< what must be installed before it can judge; otherwise empty
  /// Why the worker that is to make the call cannot judge it; null if nothing keeps a worker from it.
  std::optional<Obstacle> (*obstacle)(const CallKey& key) = nullptr;
  Judgement (*judge)(CallUnderTest& under_test) = nullptr;  ///< null for checks of the Python half

  /// "value" of "value.layout"
  std::string_view group() const { return group_of_check(name); }
};

/// Whether the check of that id makes calls on its device. True for checks of the Python half.
bool needs_device(std::string_view check);

/// A check of the Python half, as its worker describes it. Throws nlohmann::json::exception, or
/// std::invalid_argument for an unknown kind of variants, or SpecError for an unknown promise.
Check check_from_json(const nlohmann::json& described);

}  // namespace opgate

#define OPGATE_REGISTER_CHECK(identifier, ...)                 \
  [[maybe_unused]] static const bool identifier##_registered = \
      ::opgate::Registry<::opgate::Check>::instance().add(::opgate::explained(::opgate::Check __VA_ARGS__))
