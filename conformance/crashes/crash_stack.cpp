#include "crashes/crash_stack.h"

#include <c10/util/Type.h>
#include <elf.h>
#include <fmt/format.h>
#include <torch/csrc/profiler/unwind/fast_symbolizer.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "base/function_name.h"
#include "crashes/crash_handlers.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShown = 4;
// Files of these names are not the operator's: OpGate itself, PyTorch, Python, and what every program loads.
constexpr std::array<std::string_view, 18> kNotTheOperators{
    "opgate",   "libopgate.so", "_engine.",    "libtorch", "libc10",    "libpython",
    "python",   "libc.so",      "libc-",       "libm.so",  "libstdc++", "libgcc_s",
    "ld-linux", "libgomp",      "libpthread.", "libomp",   "libshm.so", "libcudart"};
// Functions of PyTorch's headers, which are compiled into each library, and kernels as the simulated device
// compiles them.
constexpr std::array<std::string_view, 7> kOfHeaders{
    "c10::", "at::", "torch::", "std::", "__gnu_cxx::", "pybind11::", "opgate_function_"};

template <class Words>
bool begins_with_one_of(std::string_view text, const Words& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.starts_with(word); });
}

uint64_t hexadecimal(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return number;
}

// Takes the text up to the next space, and the spaces after it.
std::string_view next_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return word;
}

// Translates a place in an ELF file to the address that its symbols are given in. None for other files.
std::optional<uint64_t> address_in_elf(const std::string& file, uint64_t offset) {
  std::ifstream stream(file, std::ios::binary);
  Elf64_Ehdr header{};
  stream.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!stream || !std::equal(ELFMAG, ELFMAG + SELFMAG, header.e_ident)) return std::nullopt;
  stream.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    stream.read(reinterpret_cast<char*>(&segment), sizeof segment);
    if (!stream) return std::nullopt;
    if (segment.p_type == PT_LOAD && offset >= segment.p_offset &&
        offset < segment.p_offset + segment.p_filesz)
      return offset - segment.p_offset + segment.p_vaddr;
  }
  return std::nullopt;
}

std::string relative_to_here(const std::string& file) {
  std::error_code unreadable;
  const fs::path here = fs::current_path(unreadable);
  const fs::path relative = fs::path(file).lexically_normal().lexically_relative(here);
  return relative.empty() || *relative.begin() == ".." ? file : relative.string();
}

// The exported function at that address; empty if there is none. Stripped libraries have these names alone.
std::string exported_name(const std::string& file, uint64_t address) {
  try {
    torch::unwind::MemFile library(file.c_str());
    const torch::unwind::Section symbols = library.getSection(".dynsym", true);
    torch::unwind::Section names = library.getSection(".dynstr", true);
    const auto* const begin = reinterpret_cast<const Elf64_Sym*>(symbols.data);
    const auto* const end = begin + symbols.size / sizeof(Elf64_Sym);
    const auto found = std::find_if(begin, end, [&](const Elf64_Sym& symbol) {
      return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && address >= symbol.st_value &&
             address < symbol.st_value + symbol.st_size;
    });
    return found == end ? "" : c10::demangle(names.string(found->st_name));
  } catch (const torch::unwind::UnwindError&) {  // no library, or a damaged one
    return "";
  }
}

bool is_a_header_of_others(const std::string& file) {
  return file.starts_with("/usr/") || file.find("/torch/include/") != std::string::npos;
}

StackFrame frame_at(torch::unwind::FastSymbolizer& symbolizer, const std::string& library, uint64_t offset) {
  StackFrame frame{fmt::format("{:#x}", offset), library, "", 0};
  const auto address = address_in_elf(library, offset);
  if (!address) return frame;
  const torch::unwind::Frame found = symbolizer.symbolize(library, *address);
  const std::string name = found.funcname != "??" ? found.funcname : exported_name(library, *address);
  if (!name.empty()) frame.function = short_function_name(name);
  // Where a function of a header is inlined, the line is that of the header, which is not where to look.
  if (found.filename != library && !is_a_header_of_others(found.filename)) {
    frame.file = relative_to_here(found.filename);
    frame.line = found.lineno;
  }
  return frame;
}

}  // namespace

bool StackFrame::is_of_torch() const {
  return fs::path(library).filename().string().starts_with("libtorch_c");
}

std::string StackFrame::text() const {
  return file.empty() ? fmt::format("{} in {}", function, fs::path(library).filename().string())
                      : fmt::format("{} at {}:{}", function, file, line);
}

CrashStack::CrashStack(std::span<const uintptr_t> addresses) {
  for (const uintptr_t address : addresses) addresses_.push_back(addresses_.empty() ? address : address - 1);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) take_mapping(line);
}

bool CrashStack::take(std::string_view line) {
  if (!line.starts_with(kStackLine)) return false;
  line.remove_prefix(kStackLine.size());
  const std::string_view kind = next_word(line);
  if (kind == "uncaught") {
    uncaught_ = line;
  } else if (kind == "at") {
    addresses_.push_back(hexadecimal(line));
  } else if (kind == "from") {
    addresses_.push_back(hexadecimal(line) - 1);  // the call, and not what follows it
  } else if (kind == "map") {
    take_mapping(line);
  }
  return true;
}

// 7f001000-7f002000 r-xp 00001000 fe:01 1234   /path of the file
void CrashStack::take_mapping(std::string_view line) {
  const std::string_view range = next_word(line);
  next_word(line);
  const uint64_t offset = hexadecimal(next_word(line));
  next_word(line);
  next_word(line);
  const size_t dash = range.find('-');
  if (dash == std::string_view::npos || line.empty()) return;
  mappings_.push_back(
      {hexadecimal(range.substr(0, dash)), hexadecimal(range.substr(dash + 1)), offset, std::string(line)});
}

const CrashStack::Mapping* CrashStack::find(uint64_t address) const {
  const auto found = std::ranges::find_if(
      mappings_, [&](const Mapping& mapping) { return address >= mapping.begin && address < mapping.end; });
  return found == mappings_.end() ? nullptr : &*found;
}

std::vector<StackFrame> CrashStack::operator_frames() const {
  static torch::unwind::FastSymbolizer symbolizer;  // keeps what it has read of a library
  std::vector<StackFrame> frames;
  std::optional<StackFrame> of_torch;  // the innermost
  for (const uint64_t address : addresses_) {
    const Mapping* mapping = find(address);
    if (mapping == nullptr) continue;
    const std::string library = fs::path(mapping->file).filename().string();
    if (library.starts_with("libtorch_c") && !of_torch)
      of_torch = frame_at(symbolizer, mapping->file, address - mapping->begin + mapping->offset);
    if (begins_with_one_of(library, kNotTheOperators)) continue;
    StackFrame frame = frame_at(symbolizer, mapping->file, address - mapping->begin + mapping->offset);
    // A thread of at::parallel_for begins in an instantiation of PyTorch's template, into which the
    // operator's code is inlined.
    if (begins_with_one_of(frame.function, kOfHeaders)) frame.function = function_of_lambda(frame.function);
    if (frame.function.empty() || begins_with_one_of(frame.function, kOfHeaders)) continue;
    if (!frames.empty() && frames.back().function == frame.function)
      continue;  // recursion, or a function and its parts
    frames.push_back(std::move(frame));
    if (frames.size() == kShown) break;
  }
  if (frames.empty() && of_torch) frames.push_back(*of_torch);  // an operator of ATen's own
  return frames;
}

}  // namespace opgate
