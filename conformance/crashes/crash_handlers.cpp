#include "crashes/crash_handlers.h"

#include <c10/util/Exception.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

#include "base/text.h"
#include "crashes/interrupted_frames.h"
#include "process/child_process.h"

namespace opgate {
namespace {

// Everything below on_signal() runs in a signal handler, perhaps while the heap is damaged. It allocates
// nothing and calls only functions that are safe there: fmt writes integers and text into an array without
// allocating memory or looking at the locale.
constexpr size_t kAlternativeStack = 1 << 16;

std::atomic<void (*)(const void*)> describe{nullptr};
std::atomic<bool> sends_stack{false};
std::atomic_flag crashed;  // the first thread that dies reports; others wait for the end

constexpr std::array kFatalSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
std::array<struct sigaction, kFatalSignals.size()>
    before;  // what the program did of these signals, such as pytest's faulthandler

void send(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(kAnswerDescriptor, text.data(), text.size());
    if (count <= 0) return;  // no process reads
    text.remove_prefix(static_cast<size_t>(count));
  }
}

template <class... Values>
void send_line(fmt::string_view format, const Values&... values) {
  std::array<char, 128> line;
  const auto end = fmt::vformat_to_n(line.data(), line.size(), format, fmt::make_format_args(values...)).out;
  send({line.data(), static_cast<size_t>(end - line.data())});
}

void send_frames(const ucontext_t& context) {
  std::array<uintptr_t, kMostFrames> frames;
  const size_t count = interrupted_frames(context, frames);
  for (size_t i = 0; i < count; ++i) send_line("stack {} {:x}\n", i == 0 ? "at" : "from", frames[i]);
}

bool is_code(std::string_view line) {
  return line.find("r-xp") != std::string_view::npos && line.find('/') != std::string_view::npos;
}

// Copies the lines of /proc/self/maps that say where files' code lies.
void send_mappings() {
  const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return;
  std::array<char, 8192> buffer;  // longer than a path
  size_t held = 0;
  for (ssize_t count = 0; (count = read(maps, buffer.data() + held, buffer.size() - held)) > 0;) {
    std::string_view rest(buffer.data(), held + static_cast<size_t>(count));
    for (size_t newline = rest.find('\n'); newline != std::string_view::npos; newline = rest.find('\n')) {
      const std::string_view line = rest.substr(0, newline + 1);
      if (is_code(line)) {
        send("stack map ");
        send(line);
      }
      rest.remove_prefix(newline + 1);
    }
    std::copy(rest.begin(), rest.end(), buffer.begin());
    held = rest.size() < buffer.size() ? rest.size() : 0;
  }
  close(maps);
}

// An exception that leaves a thread, an OpenMP region or a noexcept function ends the process. Its words are
// gone with it, unless they are sent now. The heap is sound here: no signal has been handled.
std::terminate_handler terminate_before = nullptr;

void on_terminate() {
  std::string words = "an exception that is no std::exception";
  if (const std::exception_ptr uncaught = std::current_exception()) {
    try {
      std::rethrow_exception(uncaught);
    } catch (const c10::Error& error) {
      words = error.what_without_backtrace();
    } catch (const std::exception& error) {
      words = error.what();
    } catch (...) {
    }
    send(fmt::format("stack uncaught {}\n", first_line(words)));
  }
  terminate_before();
}

void on_signal(int number, siginfo_t* info, void* context) {
  if (crashed.test_and_set()) {
    while (true) pause();
  }
  if (const auto tell = describe.load(); tell != nullptr && (number == SIGSEGV || number == SIGBUS))
    tell(info->si_addr);
  if (sends_stack) {
    send_line("stack signal {}\n", number);
    send_frames(*static_cast<const ucontext_t*>(context));
    send_mappings();
  }
  for (size_t i = 0; i < kFatalSignals.size(); ++i) {
    if (kFatalSignals[i] == number) sigaction(number, &before[i], nullptr);
  }
  raise(number);  // it is delivered once this handler has returned
}

}  // namespace

void handle_crashes(void (*describe_fault)(const void* address)) {
  describe = describe_fault;
  static const bool installed = [] {
    prepare_interrupted_frames();
    static std::array<std::byte, kAlternativeStack> stack;  // the fault may be a stack overflow
    stack_t alternative{};
    alternative.ss_sp = stack.data();
    alternative.ss_size = stack.size();
    sigaltstack(&alternative, nullptr);
    struct sigaction action {};
    action.sa_sigaction = &on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (size_t i = 0; i < kFatalSignals.size(); ++i) sigaction(kFatalSignals[i], &action, &before[i]);
    return true;
  }();
  static_cast<void>(installed);
}

void send_stack_of_crashes() {
  sends_stack = true;
  if (terminate_before == nullptr) terminate_before = std::set_terminate(&on_terminate);
}

}  // namespace opgate
