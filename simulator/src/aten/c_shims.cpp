#include "aten/c_shims.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/inductor/aoti_torch/generated/c_shim_cuda.h>
#include <torch/csrc/inductor/aoti_torch/utils.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "aten/c_arguments.h"
#include "aten/plain_dispatch.h"
#include "aten/redirect.h"

namespace opgate::simulator::aten {
namespace {

struct Shim {
  std::string_view name;  // of the C function
  void* original;
  const void* replacement;
  std::optional<c10::OperatorHandle>* op;  // what the replacement calls
};

// The name of an operator in the name of a C function: "mm_out" for aten::mm.out.
std::map<std::string, c10::OperatorName> operators_by_c_name() {
  constexpr std::string_view kNamespace = "aten::";
  std::map<std::string, c10::OperatorName> names;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (!name.name.starts_with(kNamespace)) continue;
    const std::string overload = name.overload_name.empty() ? "" : "_" + name.overload_name;
    names.emplace(name.name.substr(kNamespace.size()) + overload, name);
  }
  return names;
}

void call(const c10::OperatorHandle& op, std::span<const CArgument> given) {
  const PlainDispatch plain;
  torch::jit::Stack stack = arguments_from_c(op.schema(), given);
  op.callBoxed(stack);
  results_to_c(op.schema(), stack, given);
}

/// What stands for a C function of torch: `run` has the same type.
template <auto kOriginal>
struct Replacement;

template <class... Arguments, AOTITorchError (*kOriginal)(Arguments...)>
struct Replacement<kOriginal> {
  static AOTITorchError run(Arguments... arguments) {
    AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
      const std::array<CArgument, sizeof...(Arguments)> given{CArgument(arguments)...};
      call(*op, given);
    });
  }

  static Shim shim(std::string_view name) {
    return {name, reinterpret_cast<void*>(kOriginal), reinterpret_cast<const void*>(&run), &op};
  }

  static inline std::optional<c10::OperatorHandle> op;
};

// c_shims.inc has a line OPGATE_C_SHIM(aoti_torch_cuda_mm_out) for each function of c_shim_cuda.h.
#define OPGATE_C_SHIM(name) Replacement<&name>::shim(#name),
const std::array kShims{
#include "c_shims.inc"
};
#undef OPGATE_C_SHIM

// A later version of a C function takes more arguments, and its name ends with _v2.
std::string_view c_name_of_operator(std::string_view function) {
  function.remove_prefix(std::string_view("aoti_torch_cuda_").size());
  const std::size_t end = function.rfind("_v");
  const bool has_version =
      end != function.npos && end + 2 < function.size() &&
      std::ranges::all_of(function.substr(end + 2), [](char digit) { return digit >= '0' && digit <= '9'; });
  return has_version ? function.substr(0, end) : function;
}

}  // namespace

void replace_c_shims() {
  const std::map<std::string, c10::OperatorName> names = operators_by_c_name();
  for (const Shim& shim : kShims) {
    const auto name = names.find(std::string(c_name_of_operator(shim.name)));
    if (name == names.end()) continue;
    *shim.op = c10::Dispatcher::singleton().findSchema(name->second);
    if (!redirect(shim.original, shim.replacement)) {
      TORCH_WARN_ONCE(
          "AOTInductor packages cannot call the CPU's kernels here, as the simulated device needs");
      return;
    }
  }
}

}  // namespace opgate::simulator::aten
