#include "process/process_state.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <cfenv>
#include <clocale>
#include <cstring>
#include <optional>

#include "process/default_generator.h"

#if defined(__SSE__) || defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace opgate {
namespace {

// The rounding and denormal modes of vector arithmetic, without the sticky flags that every calculation
// sets.
unsigned vector_mode() {
#if defined(__SSE__) || defined(__x86_64__)
  return _mm_getcsr() & ~0x3Fu;
#else
  return 0;
#endif
}

void set_vector_mode([[maybe_unused]] unsigned mode) {
#if defined(__SSE__) || defined(__x86_64__)
  _mm_setcsr(mode);
#endif
}

const at::Generator& generator() { return at::detail::getDefaultCPUGenerator(); }

at::mt19937_data_pod random_state() {
  return at::check_generator<at::CPUGeneratorImpl>(generator())->engine().data();
}

const char* on_off(bool value) { return value ? "on" : "off"; }

}  // namespace

struct ProcessState::Values {
  c10::DeviceType device_type;
  bool grad_mode;
  bool inference_mode;
  bool deterministic;
  bool autocast;
  c10::ScalarType default_dtype;
  int threads;
  int rounding;
  unsigned vectors;
  c10::impl::LocalDispatchKeySet keys;
  std::string locale;
  std::optional<c10::Device> device;
  std::optional<c10::Stream> stream;

  explicit Values(c10::DeviceType type)
      : device_type(type),
        grad_mode(c10::GradMode::is_enabled()),
        inference_mode(c10::InferenceMode::is_enabled()),
        deterministic(at::globalContext().deterministicAlgorithms()),
        autocast(at::autocast::is_autocast_enabled(type)),
        default_dtype(c10::get_default_dtype_as_scalartype()),
        threads(at::get_num_threads()),
        rounding(std::fegetround()),
        vectors(vector_mode()),
        keys(c10::impl::tls_local_dispatch_key_set()),
        locale(std::setlocale(LC_ALL, nullptr)) {
    if (type == c10::kCPU) return;
    const c10::impl::VirtualGuardImpl guard(type);
    device = guard.getDevice();
    stream = guard.getStream(*device);
  }
};

// The generator's state takes some KiB, so it is compared apart from the rest.
struct ProcessState::Before : Values {
  at::mt19937_data_pod random;

  explicit Before(c10::DeviceType type) : Values(type), random(random_state()) {}
};

ProcessState::ProcessState(c10::DeviceType device) : before_(std::make_unique<Before>(device)) {}
ProcessState::~ProcessState() = default;
ProcessState::ProcessState(ProcessState&&) noexcept = default;

std::vector<std::string> ProcessState::changes() const {
  const Values& was = *before_;
  const Values now(was.device_type);
  std::vector<std::string> all;
  const auto flag = [&](std::string_view what, bool then, bool here) {
    if (then != here) all.push_back(fmt::format("{} is {}, was {}", what, on_off(here), on_off(then)));
  };
  flag("grad mode", was.grad_mode, now.grad_mode);
  flag("inference mode", was.inference_mode, now.inference_mode);
  flag("use_deterministic_algorithms", was.deterministic, now.deterministic);
  flag("autocast", was.autocast, now.autocast);
  if (was.default_dtype != now.default_dtype) {
    all.push_back(fmt::format("the default dtype is {}, was {}", c10::toString(now.default_dtype),
                              c10::toString(was.default_dtype)));
  }
  if (was.threads != now.threads)
    all.push_back(fmt::format("the number of intra-op threads is {}, was {}", now.threads, was.threads));
  if (was.rounding != now.rounding || (was.vectors & 0x6000u) != (now.vectors & 0x6000u))
    all.push_back("the floating-point rounding mode has changed");
  if ((was.vectors & 0x8040u) != (now.vectors & 0x8040u))
    all.push_back("the treatment of denormals has changed (flush-to-zero, denormals-are-zero)");
  if (was.keys.included_ != now.keys.included_ || was.keys.excluded_ != now.keys.excluded_)
    all.push_back("a dispatch key was left included or excluded (a guard that was not undone)");
  if (was.locale != now.locale)
    all.push_back(fmt::format("the locale is {}, was {}", now.locale, was.locale));
  if (was.device != now.device)
    all.push_back(fmt::format("the current device is {}, was {}", now.device->str(), was.device->str()));
  if (was.stream != now.stream) all.push_back("the current stream has changed");
  return all;
}

bool ProcessState::drew_random_numbers() const {
  const at::mt19937_data_pod now = random_state();
  const at::mt19937_data_pod& was = before_->random;
  return now.seed_ != was.seed_ || now.left_ != was.left_ || now.next_ != was.next_ ||
         now.state_ != was.state_;
}

void ProcessState::restore() const {
  const Values& was = *before_;
  c10::GradMode::set_enabled(was.grad_mode);
  at::globalContext().setDeterministicAlgorithms(was.deterministic,
                                                 at::globalContext().deterministicAlgorithmsWarnOnly());
  at::autocast::set_autocast_enabled(was.device_type, was.autocast);
  c10::set_default_dtype(c10::scalarTypeToTypeMeta(was.default_dtype));
  if (at::get_num_threads() != was.threads) at::set_num_threads(was.threads);
  std::fesetround(was.rounding);
  set_vector_mode(was.vectors);
  c10::impl::_force_tls_local_dispatch_key_set(was.keys);
  std::setlocale(LC_ALL, was.locale.c_str());
  seed_default_generator(c10::kCPU);
  if (!was.device) return;
  const c10::impl::VirtualGuardImpl guard(was.device_type);
  guard.setDevice(*was.device);
  guard.exchangeStream(*was.stream);
}

}  // namespace opgate
