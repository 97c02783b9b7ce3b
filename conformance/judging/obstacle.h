// What keeps a case from being judged, as far as that is known before a call is made: the case is then owed.
#pragma once

#include <optional>
#include <string>

namespace opgate {

struct CallKey;
struct Check;
struct Spec;

struct Obstacle {
  enum class Kind {
    no_device,      ///< this machine lacks the device, or cannot simulate it
    no_kernel,      ///< the operator, or every operator of the loaded libraries, has no kernel for the device
    not_installed,  ///< the check needs a package or a compiler that is not installed
    no_fake_kernel,  ///< no process has a fake kernel of the operator
    fake_in_python,  ///< the fake kernel is registered in Python, which this process does not load
    no_package,      ///< no AOTInductor package of the call was tried
    unsupported,     ///< OpGate cannot make such a call yet
  };
  Kind kind;
  std::string reason;
  bool calls_alone = false;  ///< checks that make no call can be judged all the same
};

/// What is known of a case besides its operator and its check.
struct Circumstances {
  std::optional<Obstacle> on_device = {};      ///< what keeps the operator from running on the device
  std::optional<std::string> no_package = {};  ///< why no package of the call was tried
  const CallKey* in_worker = nullptr;          ///< the call, if this process is the one that is to make it
};

/// The obstacle to a case, or none if it can be judged. The supervisor asks before it hands out a case, and
/// each worker before it makes the call. An owed verdict that does not come from here needs the call: workers
/// died of it, or the operator or the simulated device could not do what the check asks.
std::optional<Obstacle> obstacle_to(const Spec& spec, const Check& check, const Circumstances& known);

}  // namespace opgate
