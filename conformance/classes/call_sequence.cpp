#include "classes/call_sequence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/errors.h"
#include "classes/method_values.h"
#include "spec/spec.h"
#include "values/counter.h"
#include "values/domain.h"

namespace opgate {
namespace {

constexpr size_t kRandomCalls = 16;

at::Tensor made(const TensorArgument& described, const CallKey& key, const std::string& stream) {
  const at::Tensor values =
      make_values(described.domain, stream_key(stream), described.shape, dtype_of(described, key));
  return key.device == c10::kCPU ? values : values.to(key.device);
}

torch::jit::Stack made(const Sample& sample, const CallKey& key, const std::string& stream) {
  torch::jit::Stack stack;
  for (size_t position = 0; position < sample.arguments.size(); ++position) {
    const Argument& argument = sample.arguments[position];
    const std::string name = fmt::format("{}/{}", stream, position);
    if (const TensorArgument* tensor = argument.tensor()) {
      stack.emplace_back(made(*tensor, key, name));
    } else if (const auto* list = argument.tensors()) {
      c10::List<at::Tensor> tensors;
      for (size_t i = 0; i < list->size(); ++i)
        tensors.push_back(made((*list)[i], key, fmt::format("{}[{}]", name, i)));
      stack.emplace_back(std::move(tensors));
    } else {
      stack.push_back(deep_copy(*argument.other()));  // a list is passed by reference
    }
  }
  return stack;
}

std::string subject(const CallKey& key) {
  return fmt::format("{}/{}", key.spec->name, value_name(*key.sample));
}

// Every method with every argument set; name_streams() names their values later.
Sequence choices(const CallKey& key) {
  Sequence all;
  for (const ClassMethod& method : key.spec->torch_class->methods) {
    for (const Sample& call : method.calls) all.push_back({&method, &call, ""});
  }
  return all;
}

// A Fisher-Yates shuffle with random numbers from a counter.
void shuffle(Sequence& calls, uint64_t stream) {
  for (size_t i = calls.size(); i > 1; --i) std::swap(calls[i - 1], calls[bits_at(stream, i) % i]);
}

void name_streams(Sequence& calls, const std::string& name) {
  for (size_t i = 0; i < calls.size(); ++i) calls[i].value_name = fmt::format("{}/call{}", name, i);
}

}  // namespace

std::vector<Sequence> random_sequences(const CallKey& key, size_t count) {
  const Sequence all = choices(key);
  std::vector<Sequence> sequences;
  for (size_t s = 0; s < count; ++s) {
    const std::string name = fmt::format("{}/sequence{}", subject(key), s);
    Sequence sequence;
    for (size_t i = 0; i < kRandomCalls; ++i)
      sequence.push_back(all[bits_at(stream_key(name), i) % all.size()]);
    Sequence last = all;
    shuffle(last, stream_key(name + "/last"));
    sequence.insert(sequence.end(), last.begin(), last.end());
    name_streams(sequence, name);
    sequences.push_back(std::move(sequence));
  }
  return sequences;
}

Sequence every_call(const CallKey& key) {
  Sequence calls = choices(key);
  name_streams(calls, subject(key) + "/every");
  return calls;
}

std::string text_of(std::span<const MethodCall> calls) {
  std::vector<std::string> texts;
  for (const MethodCall& call : calls)
    texts.push_back(fmt::format("{}({})", call.method->name, default_name(call.arguments->arguments)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

torch::jit::Stack arguments_of(const CallKey& key, const MethodCall& call) {
  return made(*call.arguments, key, call.value_name);
}

torch::jit::Stack constructor_arguments(const CallKey& key) { return made(*key.sample, key, subject(key)); }

c10::IValue construct(const CallKey& key) { return construct(key, constructor_arguments(key)); }

c10::IValue construct(const CallKey& key, const torch::jit::Stack& arguments) {
  const Answer made =
      answer_of([&] { return construct(key.spec->torch_class->type, arguments); }, key.device);
  if (made.ok()) return made.value;
  throw setup_error("{}: {} refuses the constructor arguments {} of its spec: {}", key.sample->where,
                    key.spec->id, key.sample->name, *made.raised);
}

std::vector<Answer> call_in_turn(const CallKey& key, const c10::IValue& object,
                                 std::span<const MethodCall> calls) {
  std::vector<Answer> answers;
  for (const MethodCall& call : calls) {
    const torch::jit::Stack arguments = arguments_of(key, call);
    answers.push_back(
        answer_of([&] { return deep_copy(call_method(object, call.method->name, arguments)); }, key.device));
  }
  return answers;
}

}  // namespace opgate
