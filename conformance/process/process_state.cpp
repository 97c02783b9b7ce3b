#include "process/process_state.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <c10/core/AutogradState.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>

#include "device/device.h"
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

// The signals whose handlers belong to the program: those that end it, and those that a library may want to
// hear.
constexpr std::array kSignals{SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS, SIGFPE,
                              SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGCHLD};
using SignalActions = std::array<struct sigaction, kSignals.size()>;

SignalActions signal_actions() {
  SignalActions actions{};
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &actions[i]);
  return actions;
}

// glibc sets this flag itself, on every handler that was set once, and does not name it.
constexpr int kRestorer = 0x04000000;

bool same_handler(const struct sigaction& a, const struct sigaction& b) {
  return a.sa_handler == b.sa_handler && (a.sa_flags | kRestorer) == (b.sa_flags | kRestorer);
}

// LLVM, which Triton's compiler is made of, sets handlers when it first compiles a kernel. No operator can
// help that.
bool is_of_triton(const struct sigaction& action) {
  Dl_info where{};
  return dladdr(reinterpret_cast<void*>(action.sa_handler), &where) != 0 && where.dli_fname != nullptr &&
         std::filesystem::path(where.dli_fname).filename() == "libtriton.so";
}

bool& handler_was_changed() {
  static bool changed = false;
  return changed;
}

const SignalActions& remembered_actions() {
  static const SignalActions actions = signal_actions();
  return actions;
}

void set_signal_actions(const SignalActions& wanted) {
  const SignalActions now = signal_actions();
  for (size_t i = 0; i < kSignals.size(); ++i) {
    if (!same_handler(wanted[i], now[i])) sigaction(kSignals[i], &wanted[i], nullptr);
  }
}

const char* on_off(bool value) { return value ? "on" : "off"; }

}  // namespace

struct ProcessState::Values {
  // Autocast belongs to a device; a kernel for the CPU may switch on that of CUDA.
  struct Autocast {
    c10::DeviceType device;
    bool enabled;
    c10::ScalarType dtype;

    bool operator==(const Autocast&) const = default;
  };

  static std::vector<Autocast> autocast_of_devices() {
    std::vector<Autocast> all;
    for (const c10::DeviceType device : device_types()) {
      if (!autocast_key(device)) continue;
      all.push_back(
          {device, at::autocast::is_autocast_enabled(device), at::autocast::get_autocast_dtype(device)});
    }
    return all;
  }

  c10::DeviceType device_type;
  bool deterministic;
  std::vector<Autocast> autocast;
  c10::AutogradState autograd;
  std::optional<SignalActions> signals;
  c10::ScalarType default_dtype;
  int threads;
  int rounding;
  unsigned vectors;
  c10::impl::LocalDispatchKeySet keys;
  std::string locale;
  std::optional<c10::Device> device;
  std::optional<c10::Stream> stream;

  Values(c10::DeviceType type, Extent extent)
      : device_type(type),
        deterministic(at::globalContext().deterministicAlgorithms()),
        autocast(autocast_of_devices()),
        autograd(c10::AutogradState::get_tls_state()),
        default_dtype(c10::get_default_dtype_as_scalartype()),
        threads(at::get_num_threads()),
        rounding(std::fegetround()),
        vectors(vector_mode()),
        keys(c10::impl::tls_local_dispatch_key_set()),
        locale(std::setlocale(LC_ALL, nullptr)) {
    if (extent == Extent::everything) signals = signal_actions();
    if (type == c10::kCPU) return;
    const c10::impl::VirtualGuardImpl guard(type);
    device = guard.getDevice();
    stream = guard.getStream(*device);
  }
};

// How far the default generator of a device has come.
struct RandomOfDevice {
  uint64_t seed;
  uint64_t offset;

  explicit RandomOfDevice(c10::Device device) {
    at::Generator generator = at::globalContext().defaultGenerator(device);
    const std::lock_guard lock(generator.mutex());
    seed = generator.current_seed();
    offset = generator.get_offset();
  }
  bool operator==(const RandomOfDevice&) const = default;
};

// The generator's state takes some KiB, so it is compared apart from the rest.
struct ProcessState::Before : Values {
  // The engine, and the second number of a pair of normal ones, which a later call takes without the engine.
  struct Random {
    at::mt19937_data_pod engine;
    std::optional<float> next_float;
    std::optional<double> next_double;

    Random() {
      auto* const now = at::check_generator<at::CPUGeneratorImpl>(generator());
      engine = now->engine().data();
      next_float = now->next_float_normal_sample();
      next_double = now->next_double_normal_sample();
    }
    bool operator==(const Random& other) const {
      return engine.seed_ == other.engine.seed_ && engine.left_ == other.engine.left_ &&
             engine.next_ == other.engine.next_ && engine.state_ == other.engine.state_ &&
             next_float == other.next_float && next_double == other.next_double;
    }
  };
  Extent extent;
  std::optional<Random> random;
  std::optional<RandomOfDevice> random_of_device;

  Before(c10::DeviceType type, Extent taken) : Values(type, taken), extent(taken) {
    if (extent == Extent::without_signals_and_random) return;
    random.emplace();
    if (device) random_of_device.emplace(*device);
  }
};

ProcessState::ProcessState(c10::DeviceType device, Extent extent)
    : before_(std::make_unique<Before>(device, extent)) {}
ProcessState::~ProcessState() = default;
ProcessState::ProcessState(ProcessState&&) noexcept = default;

std::vector<std::string> ProcessState::changes() const {
  const Values& was = *before_;
  const Values now(was.device_type, before_->extent);
  std::vector<std::string> all;
  const auto flag = [&](std::string_view what, bool then, bool here) {
    if (then != here) all.push_back(fmt::format("{} is {}, was {}", what, on_off(here), on_off(then)));
  };
  flag("grad mode", was.autograd.get_grad_mode(), now.autograd.get_grad_mode());
  flag("inference mode", was.autograd.get_inference_mode(), now.autograd.get_inference_mode());
  flag("use_deterministic_algorithms", was.deterministic, now.deterministic);
  flag("forward-mode autograd", was.autograd.get_fw_grad_mode(), now.autograd.get_fw_grad_mode());
  flag("multithreaded backward", was.autograd.get_multithreading_enabled(),
       now.autograd.get_multithreading_enabled());
  flag("view replay", was.autograd.get_view_replay_enabled(), now.autograd.get_view_replay_enabled());
  for (size_t i = 0; i < was.autocast.size(); ++i) {
    const Values::Autocast &then = was.autocast[i], &here = now.autocast[i];
    if (then == here) continue;
    const std::string device = device_title(then.device);
    flag("autocast on " + device, then.enabled, here.enabled);
    if (then.dtype != here.dtype) {
      all.push_back(fmt::format("the dtype of autocast on {} is {}, was {}", device,
                                c10::toString(here.dtype), c10::toString(then.dtype)));
    }
  }
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
  for (size_t i = 0; was.signals && i < kSignals.size(); ++i) {
    if (same_handler((*was.signals)[i], (*now.signals)[i]) || is_of_triton((*now.signals)[i])) continue;
    handler_was_changed() = true;
    all.push_back(
        fmt::format("the handler of signal {} ({}) has changed", kSignals[i], strsignal(kSignals[i])));
  }
  if (was.device != now.device)
    all.push_back(fmt::format("the current device is {}, was {}", now.device->str(), was.device->str()));
  if (was.stream != now.stream) all.push_back("the current stream has changed");
  return all;
}

bool ProcessState::drew_random_numbers() const {
  if (!(Before::Random() == before_->random.value())) return true;
  return before_->random_of_device && RandomOfDevice(*before_->device) != *before_->random_of_device;
}

void ProcessState::restore() const {
  const Values& was = *before_;
  c10::AutogradState::set_tls_state(was.autograd);  // grad mode and inference mode among others
  at::globalContext().setDeterministicAlgorithms(was.deterministic,
                                                 at::globalContext().deterministicAlgorithmsWarnOnly());
  for (const Values::Autocast& autocast : was.autocast) {
    at::autocast::set_autocast_enabled(autocast.device, autocast.enabled);
    at::autocast::set_autocast_dtype(autocast.device, autocast.dtype);
  }
  if (was.signals) set_signal_actions(*was.signals);
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
  seed_default_generator(*was.device);
}

void ProcessState::restore_or_end() const {
  if (changes().empty()) return;
  restore();
  const std::vector<std::string> left = changes();
  if (left.empty()) return;
  fmt::print(stderr, "the operator changed the state of the process, which cannot be restored: {}\n",
             fmt::join(left, "; "));
  std::_Exit(1);
}

void remember_signal_handlers() { static_cast<void>(remembered_actions()); }

void restore_signal_handlers() {
  if (handler_was_changed()) set_signal_actions(remembered_actions());
}

}  // namespace opgate
