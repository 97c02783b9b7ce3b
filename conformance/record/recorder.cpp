// libopgate_record.so: loaded into a program, it records each kind of call of an operator that reaches the
// dispatcher, from Python and from C++, and changes nothing. log.h describes the format of its files.
//
//   OPGATE_RECORD             folder of the logs
//   OPGATE_RECORD_NAMESPACES  "torchvision,my_ops"; where it is missing, all namespaces but torch's own
//   OPGATE_RECORD_OPERATORS   "aten::gelu,aten::add.Tensor": only these operators; where it is missing, all
//                             of the namespaces
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>
#include <fmt/format.h>
#include <link.h>
#include <opgate/error.h>
#include <pthread.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/build.h"
#include "record/described_call.h"
#include "record/log.h"
#include "spec/schema/function_name.h"

namespace opgate {
namespace {

using nlohmann::json;

// The most kinds of call per operator that are recorded. Further kinds are only counted, because a program
// with random sizes has thousands.
constexpr size_t kKindsKept = 256;

// A kind that always raises is described again this many times, until one of its calls succeeds.
constexpr uint64_t kDescribedAgain = 16;

// The namespaces that libtorch and the Python package torch define.
const std::set<std::string, std::less<>> kOwnNamespaces{"_c10d_functional",
                                                        "_c10d_functional_autograd",
                                                        "_dtensor",
                                                        "_inductor_test",
                                                        "_native",
                                                        "_native_aot",
                                                        "_quantized",
                                                        "_test",
                                                        "aten",
                                                        "c10d",
                                                        "c10d_functional",
                                                        "coor",
                                                        "debug_mode_ops",
                                                        "debugprims",
                                                        "export",
                                                        "flex_gemm",
                                                        "flex_lib",
                                                        "fsdp",
                                                        "higher_order",
                                                        "inductor",
                                                        "inductor_prims",
                                                        "mempool",
                                                        "mkl",
                                                        "mkldnn",
                                                        "mkldnn_prepacked",
                                                        "onednn",
                                                        "onnx",
                                                        "onnx_symbolic",
                                                        "prepacked",
                                                        "prim",
                                                        "prims",
                                                        "profiler",
                                                        "quantization",
                                                        "quantized",
                                                        "quantized_decomposed",
                                                        "rngprims",
                                                        "sparse",
                                                        "static_runtime",
                                                        "streams",
                                                        "symm_mem",
                                                        "xnnpack"};

using Names = std::set<std::string, std::less<>>;

Names list_in(const char* variable) {
  Names names;
  if (const char* const text = std::getenv(variable)) {
    std::istringstream list(text);
    for (std::string name; std::getline(list, name, ',');) names.insert(name);
  }
  return names;
}

struct Kind {
  size_t number = 0;
  uint64_t calls = 0;
  uint64_t raised = 0;
};

struct OperatorCalls {
  std::unordered_map<std::string, Kind> kinds;
  std::map<std::string, uint64_t> left_out;  // by reason
};

/// What the end of a call needs to know from its beginning.
struct OpenCall : at::ObserverContext {
  Kind* kind = nullptr;  // points into an unordered_map, whose elements do not move
  int exceptions = 0;    // std::uncaught_exceptions() at the beginning
  int generation = 0;    // Recorder::generation_ at the beginning: a child that the call forks has no `kind`
};

class Recorder {
 public:
  Recorder() : log_(std::getenv("OPGATE_RECORD") == nullptr ? "" : std::getenv("OPGATE_RECORD")) {
    chosen_ = list_in("OPGATE_RECORD_NAMESPACES");
    operators_chosen_ = list_in("OPGATE_RECORD_OPERATORS");
    for (const std::string& op : operators_chosen_) packets_chosen_.insert(op.substr(0, op.find('.')));
    log_.write({{"torch", kTorchVersion}});
  }

  bool is_wanted(std::string_view op) const {
    if (!packets_chosen_.empty()) return packets_chosen_.contains(op);
    const std::string_view name_space = op.substr(0, op.find("::"));
    if (name_space.size() == op.size()) return false;  // an autograd node or a profiler range of the user's
    // recording/function_recorder/hooks.py chooses functions.
    if (name_space == kFunctionNamespace) return true;
    return chosen_.empty() ? !kOwnNamespaces.contains(name_space) : chosen_.contains(name_space);
  }

  std::unique_ptr<OpenCall> begin(const at::RecordFunction& call) {
    const std::optional<c10::OperatorName> name = call.operator_name();
    if (!name) return nullptr;
    const std::string op = name->overload_name.empty() ? name->name : name->name + "." + name->overload_name;
    if (!operators_chosen_.empty() && !operators_chosen_.contains(op)) return nullptr;
    // An autograd kernel calls the operator again, below autograd. That counts as the same call.
    for (const std::string& open : open_calls_) {
      if (open == op) return nullptr;
    }
    auto opened = std::make_unique<OpenCall>();
    opened->exceptions = std::uncaught_exceptions();
    {
      const std::lock_guard lock(mutex_);
      opened->generation = generation_;
      opened->kind = kind_of(op, *name, call.inputs());
    }
    open_calls_.push_back(op);
    return opened;
  }

  void end(const OpenCall& opened) {
    open_calls_.pop_back();
    const std::lock_guard lock(mutex_);
    if (opened.kind == nullptr || opened.generation != generation_) return;
    Kind& kind = *opened.kind;
    ++kind.calls;
    if (std::uncaught_exceptions() > opened.exceptions) ++kind.raised;
    // Counts are written at powers of two. So if the program is killed, at least half of the true count is
    // known.
    if (std::has_single_bit(kind.calls) || kind.raised == kind.calls) write_count(kind);
  }

  void finish() {
    const std::lock_guard lock(mutex_);
    for (const auto& [op, calls] : operators_) {
      for (const auto& [text, kind] : calls.kinds) write_count(kind);
      for (const auto& [reason, count] : calls.left_out)
        log_.write({{"left_out", op}, {"because", reason}, {"count", count}});
    }
  }

  void before_fork() { mutex_.lock(); }
  void after_fork_in_parent() { mutex_.unlock(); }
  void after_fork_in_child() {
    log_.forget_file();
    operators_.clear();
    libraries_.clear();
    next_ = 0;
    ++generation_;
    mutex_.unlock();
  }

 private:
  // The kind of the call, which is recorded where it is new; null if the call is left out.
  Kind* kind_of(const std::string& op, const c10::OperatorName& name, c10::ArrayRef<c10::IValue> arguments) {
    OperatorCalls& calls = operators_[op];
    const auto leave_out = [&](const std::string& why) {
      ++calls.left_out[why];
      return nullptr;
    };
    try {
      const std::string text = kind_of_call(arguments);
      if (const auto found = calls.kinds.find(text); found != calls.kinds.end()) {
        Kind& known = found->second;
        // Until a call of this kind succeeds, its values may be what is refused: those of the next call
        // replace them.
        if (known.calls > 0 && known.raised == known.calls && known.calls < kDescribedAgain)
          log_.write({{"again", known.number}, {"arguments", described_arguments(arguments)}});
        return &known;
      }
      if (calls.kinds.size() >= kKindsKept)
        return leave_out(fmt::format("of a further kind, after {}", kKindsKept));
      const json described = described_arguments(arguments);
      Kind& kind = calls.kinds[text];
      kind.number = next_++;
      write_libraries();
      json line{{"call", kind.number}, {"op", op}, {"arguments", described}, {"names", json::array()}};
      if (const auto found = c10::Dispatcher::singleton().findSchema(name)) {
        line["schema"] = c10::toString(found->schema());
        for (const c10::Argument& argument : found->schema().arguments())
          line["names"].push_back(argument.name());
      }
      log_.write(line);
      return &kind;
    } catch (const SpecError& error) {
      return leave_out(fmt::format("with {}", error.what()));
    } catch (const c10::Error&) {
      // RecordFunction would print it with its stack, for each call, into the output of the program.
      return leave_out("with an argument that torch does not describe");
    }
  }

  void write_count(const Kind& kind) { log_.write({{"count", {kind.number, kind.calls, kind.raised}}}); }

  // Records all loaded libraries that are new, because one of them may define the operator.
  void write_libraries() {
    std::vector<std::string> files;
    const auto visit = [](dl_phdr_info* info, size_t, void* found) {
      if (info->dlpi_name == nullptr || std::strchr(info->dlpi_name, '/') == nullptr) return 0;
      if (char* const path = realpath(info->dlpi_name, nullptr)) {  // as it was opened: "./libmine.so"
        static_cast<std::vector<std::string>*>(found)->emplace_back(path);
        std::free(path);
      }
      return 0;
    };
    dl_iterate_phdr(visit, &files);
    for (const std::string& file : files) {
      if (libraries_.insert(file).second) log_.write({{"library", file}});
    }
  }

  static thread_local std::vector<std::string> open_calls_;

  std::mutex mutex_;
  RecordingLog log_;
  Names chosen_;            // namespaces
  Names operators_chosen_;  // with their overloads
  Names packets_chosen_;    // the same without them
  std::map<std::string, OperatorCalls> operators_;
  std::set<std::string> libraries_;
  size_t next_ = 0;
  int generation_ = 0;  // the number of forks between the first process and this one
};

thread_local std::vector<std::string> Recorder::open_calls_;

// The recorder is never destroyed, because a thread may call an operator while the process ends.
Recorder& recorder() {
  static Recorder* const only = new Recorder;
  return *only;
}

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& call) {
  if (!recorder().is_wanted(call.name())) return nullptr;
  return recorder().begin(call);
}

void end(const at::RecordFunction&, at::ObserverContext* context) {
  if (context != nullptr) recorder().end(*static_cast<OpenCall*>(context));
}

[[maybe_unused]] const bool begun = [] {
  recorder();
  at::addGlobalCallback(
      at::RecordFunctionCallback(&begin, &end).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  pthread_atfork([] { recorder().before_fork(); }, [] { recorder().after_fork_in_parent(); },
                 [] { recorder().after_fork_in_child(); });
  std::atexit([] { recorder().finish(); });
  return true;
}();

}  // namespace
}  // namespace opgate
