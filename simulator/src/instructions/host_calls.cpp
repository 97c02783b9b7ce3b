// What kernels ask of the host: `assert`, which ends them, `printf`, `malloc`, `free`, and
// what a conditional node of a graph does.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "instructions/selectors.h"
#include "machine/faults.h"
#include "machine/launches/grid.h"
#include "machine/memory/memory.h"

namespace opgate::simulator {
namespace host_calls {

// Where a call hands its argument over: 8 bytes, or fewer where the argument is shorter.
std::uint64_t argument_of(Thread& thread, const Call& call, std::size_t index) {
  if (index >= call.arguments.size()) return 0;
  const Argument& argument = call.arguments[index];
  if (argument.in_register) return thread.registers[argument.slot];
  std::uint64_t value = 0;
  std::memcpy(&value, thread.local_memory().data() + thread.local_base() + argument.offset,
              std::min<std::size_t>(argument.bytes, 8));
  return value;
}

// What the call gives back: as many bytes of the value as the result has.
void give_back(Thread& thread, const Call& call, std::uint64_t value) {
  for (const Argument& result : call.results) {
    if (result.in_register)
      thread.registers[result.slot] = value;
    else
      std::memcpy(thread.local_memory().data() + thread.local_base() + result.offset, &value,
                  std::min(result.bytes, sizeof(value)));
  }
}

const Call& call_of(Thread& thread, const Instruction& in) {
  return thread.function().calls[static_cast<std::size_t>(in.immediate)];
}

// A text at a generic address, as far as it can be read.
std::string text_at(Thread& thread, const Instruction& in, std::uint64_t address, std::size_t most) {
  std::string text;
  try {
    while (text.size() < most) {
      const auto c =
          static_cast<char>(*locate<Space::generic, Access::load>(thread, in, address + text.size(), 1));
      if (c == '\0') break;
      text += c;
    }
  } catch (const KernelFault&) {
    text += "...";
  }
  return text;
}

/// The arguments of `printf` after the format, each at a multiple of its size.
class Arguments {
 public:
  Arguments(Thread& thread, const Instruction& in, std::uint64_t address)
      : thread_(thread), in_(in), address_(address) {}

  template <class T>
  T next() {
    address_ = (address_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value;
    std::memcpy(&value, locate<Space::generic, Access::load>(thread_, in_, address_, sizeof(T)), sizeof(T));
    address_ += sizeof(T);
    return value;
  }

  std::string text(std::uint64_t address) { return text_at(thread_, in_, address, kMostOfText); }

 private:
  static constexpr std::size_t kMostOfText = 4096;

  Thread& thread_;
  const Instruction& in_;
  std::uint64_t address_;
};

template <class T>
std::string formatted(const std::string& how, T value) {
  const int length = std::snprintf(nullptr, 0, how.c_str(), value);
  if (length <= 0) return {};
  std::string text(static_cast<std::size_t>(length), '\0');
  std::snprintf(text.data(), text.size() + 1, how.c_str(), value);
  return text;
}

// Puts the arguments into the place of stars. A negative precision is none.
std::string without_stars(std::string how, Arguments& arguments) {
  for (std::size_t star; (star = how.find('*')) != std::string::npos;) {
    const int number = arguments.next<int>();
    const bool is_none = number < 0 && star > 0 && how[star - 1] == '.';
    how.replace(is_none ? star - 1 : star, is_none ? 2 : 1, is_none ? "" : std::to_string(number));
  }
  return how;
}

// What stands for a conversion such as "%-8.3lld", and an empty text for an unknown one. `lengths` are "ll"
// here.
std::string converted(const std::string& how, const std::string& lengths, char conversion,
                      Arguments& arguments) {
  if (std::strchr("diouxX", conversion) != nullptr && lengths.find_first_of("ljzt") != std::string::npos)
    return formatted(how + "ll" + conversion, arguments.next<long long>());
  if (std::strchr("diouxXc", conversion) != nullptr)
    return formatted(how + lengths + conversion, arguments.next<int>());
  if (std::strchr("eEfFgGaA", conversion) != nullptr)
    return formatted(how + conversion, arguments.next<double>());
  if (conversion == 'p')
    return formatted(how + conversion, reinterpret_cast<void*>(arguments.next<std::uint64_t>()));
  if (conversion == 's')
    return formatted(how + conversion, arguments.text(arguments.next<std::uint64_t>()).c_str());
  return {};
}

std::string printed(const std::string& format, Arguments& arguments) {
  std::string text;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%' || at + 1 == format.size()) {
      text += format[at];
    } else if (format[at + 1] == '%') {
      text += format[++at];
    } else {
      const std::size_t end =
          std::min(format.find_first_not_of("-+ #0123456789.*", at + 1), format.size() - 1);
      const std::size_t conversion = std::min(format.find_first_not_of("hljzt", end), format.size() - 1);
      const std::string lengths = format.substr(end, conversion - end);
      const std::string how = without_stars(format.substr(at, end - at), arguments);
      text += converted(how, lengths, format[conversion], arguments);
      at = conversion;
    }
  }
  return text;
}

}  // namespace host_calls

// __assertfail(message, file, line, function, bytes of a character)
void execute_assertion(Thread& thread, const Instruction& in) {
  using namespace host_calls;
  constexpr std::size_t kMostOfText = 400;
  const Call& call = call_of(thread, in);
  const auto text = [&](std::size_t index) {
    return text_at(thread, in, argument_of(thread, call, index), kMostOfText);
  };
  throw KernelFault{Fault::assertion, "assertion `" + text(0) + "` failed at " + text(1) + ":" +
                                          std::to_string(argument_of(thread, call, 2)) + ", in " + text(3)};
}

// int vprintf(format, arguments): a device writes into a buffer, which the host prints when it waits for the
// kernel.
void execute_print(Thread& thread, const Instruction& in) {
  using namespace host_calls;
  const Call& call = call_of(thread, in);
  constexpr std::size_t kMostOfFormat = 1 << 16;
  const std::string format = text_at(thread, in, argument_of(thread, call, 0), kMostOfFormat);
  Arguments arguments(thread, in, argument_of(thread, call, 1));
  const std::string text = printed(format, arguments);
  std::string* const collected = thread.block->launch().printed;
  if (collected != nullptr)
    *collected += text;
  else
    std::fwrite(text.data(), 1, text.size(), stdout);
  give_back(thread, call, static_cast<std::uint32_t>(text.size()));
}

// void* malloc(bytes)
void execute_malloc(Thread& thread, const Instruction& in) {
  using namespace host_calls;
  const Call& call = call_of(thread, in);
  give_back(thread, call, thread.block->grid().allocate(argument_of(thread, call, 0)));
}

// void free(pointer)
void execute_free(Thread& thread, const Instruction& in) {
  using namespace host_calls;
  const std::uint64_t address = argument_of(thread, call_of(thread, in), 0);
  if (address != 0) thread.block->grid().release(address, *in.text);
}

// void cudaGraphSetConditional(handle, value): the handle is where the value lies.
void execute_set_condition(Thread& thread, const Instruction& in) {
  using namespace host_calls;
  const Call& call = call_of(thread, in);
  const auto value = static_cast<std::uint32_t>(argument_of(thread, call, 1));
  std::memcpy(locate<Space::global, Access::store>(thread, in, argument_of(thread, call, 0), sizeof(value)),
              &value, sizeof(value));
}

bool is_host_call(Handler handler) {
  return handler == &execute_print || handler == &execute_malloc || handler == &execute_free ||
         handler == &execute_set_condition;
}

}  // namespace opgate::simulator
