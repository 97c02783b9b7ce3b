#include "memory/guard_pages.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <new>

#include "crashes/crash_handlers.h"

namespace opgate::guard_pages {
namespace {

size_t page_size() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

struct Mapping {
  std::byte* base = nullptr;  // start of the inaccessible page in front
  size_t whole = 0;
  std::byte* data = nullptr;
  size_t bytes = 0;
  bool freed = false;
  std::array<char, 48> name{};
};

// A fixed array, so that a signal handler can read it. It has more entries than one call needs at a time,
// including those of blocks freed lately.
constexpr size_t kMappings = 512;
std::array<Mapping, kMappings> mappings;
std::deque<size_t>& freed_slots() {
  static auto* const slots = new std::deque<size_t>;  // never destroyed, as the allocator is not
  return *slots;
}

Mapping* find(const void* data) {
  for (Mapping& mapping : mappings) {
    if (mapping.base != nullptr && mapping.data == data && !mapping.freed) return &mapping;
  }
  return nullptr;
}

void release(Mapping& mapping) {
  munmap(mapping.base, mapping.whole);
  mapping = {};
}

Mapping& free_slot() {
  for (Mapping& mapping : mappings) {
    if (mapping.base == nullptr) return mapping;
  }
  if (freed_slots().empty()) throw std::bad_alloc();
  Mapping& oldest = mappings[freed_slots().front()];
  freed_slots().pop_front();
  release(oldest);
  return oldest;
}

using Line = std::array<char, 256>;

// Returns the number of characters that were written.
template <class... Arguments>
ptrdiff_t print(Line& line, fmt::string_view format, const Arguments&... arguments) {
  return fmt::vformat_to_n(line.data(), line.size(), format, fmt::make_format_args(arguments...)).out -
         line.data();
}

// Calls only functions that are safe in a signal handler: fmt writes names and integers into the array
// without allocating memory or looking at the locale.
void describe_fault(const void* faulty) {
  const auto* const address = static_cast<const std::byte*>(faulty);
  for (const Mapping& mapping : mappings) {
    if (mapping.base == nullptr || address < mapping.base || address >= mapping.base + mapping.whole)
      continue;
    Line text{};
    const char* const name =
        mapping.name[0] != '\0' ? mapping.name.data() : "a block that the operator allocated";
    ptrdiff_t length = 0;
    if (mapping.freed) {
      length = print(text, "out of bounds: {} was touched after it was freed\n", name);
    } else if (address >= mapping.data + mapping.bytes) {
      length = print(text, "out of bounds: byte {} past the end of {} ({} bytes) was touched\n",
                     address - (mapping.data + mapping.bytes), name, mapping.bytes);
    } else {
      length = print(text, "out of bounds: byte {} before the start of {} ({} bytes) was touched\n",
                     mapping.data - address, name, mapping.bytes);
    }
    const ssize_t ignored = write(STDERR_FILENO, text.data(), static_cast<size_t>(length));
    static_cast<void>(ignored);
    break;
  }
}

}  // namespace

void* map(size_t bytes, bool at_end) {
  const size_t page = page_size();
  const size_t inner = (bytes + page - 1) / page * page;
  Mapping& mapping = free_slot();
  void* const base = mmap(nullptr, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<std::byte*>(base) + page;
  if (mprotect(begin, inner, PROT_READ | PROT_WRITE) != 0) {
    munmap(base, inner + 2 * page);
    throw std::bad_alloc();
  }
  mapping = {static_cast<std::byte*>(base),
             inner + 2 * page,
             at_end ? begin + inner - bytes : begin,
             bytes,
             false,
             {}};
  return mapping.data;
}

void unmap(void* data) {
  Mapping* const mapping = find(data);
  if (mapping == nullptr) return;
  mprotect(mapping->base, mapping->whole, PROT_NONE);
  mapping->freed = true;
  freed_slots().push_back(static_cast<size_t>(mapping - mappings.data()));
}

void label(const void* data, const std::string& name) {
  if (Mapping* const mapping = find(data))
    std::snprintf(mapping->name.data(), mapping->name.size(), "%s", name.c_str());
}

void report_faults() { handle_crashes(&describe_fault); }

}  // namespace opgate::guard_pages
