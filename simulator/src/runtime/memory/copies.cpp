#include "runtime/memory/copies.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/devices/simulator.h"
#include "runtime/findings/errors.h"
#include "runtime/findings/report.h"

namespace opgate::simulator {
namespace copying {

using Kind = Location::Kind;

std::size_t bytes_covered(const CopySide& side, const CopyShape& shape) {
  return (shape.depth - 1) * side.slice_pitch + (shape.height - 1) * side.row_pitch + shape.width;
}

// Where a side is. Refuses what is not allocated.
Location locate(MemoryMap& memory, const CopySide& side, const CopyShape& shape, const char* what) {
  if (side.data == nullptr) refuse(cudaErrorInvalidValue, std::string(what) + ": a null pointer");
  std::string why;
  const Location location = memory.locate(side.data, bytes_covered(side, shape), why, /*later=*/true);
  if (!why.empty()) refuse(cudaErrorInvalidValue, std::string(what) + ": " + why);
  return location;
}

// The same when the copy runs. Memory may have been freed in the meantime, which is a fault of the device.
std::byte* locate_again(MemoryMap& memory, const CopySide& side, const CopyShape& shape, const char* what) {
  std::string why;
  const Location location = memory.locate(side.data, bytes_covered(side, shape), why);
  if (why.empty()) return location.data;
  errors::set_sticky(cudaErrorIllegalAddress, std::string(what) + ": " + why);
  return nullptr;
}

void check_direction(Kind to, Kind from, cudaMemcpyKind kind) {
  const auto may_be_device = [](Kind place) { return place == Kind::device || place == Kind::managed; };
  const auto may_be_host = [](Kind place) { return place != Kind::device; };
  bool right = true;
  switch (kind) {
    case cudaMemcpyHostToHost:
      right = may_be_host(to) && may_be_host(from);
      break;
    case cudaMemcpyHostToDevice:
      right = may_be_device(to) && may_be_host(from);
      break;
    case cudaMemcpyDeviceToHost:
      right = may_be_host(to) && may_be_device(from);
      break;
    // Pinned memory has an address of the device, so that this direction may name it.
    case cudaMemcpyDeviceToDevice:
      right = to != Kind::pageable && from != Kind::pageable;
      break;
    case cudaMemcpyDefault:
      break;
    default:
      refuse(cudaErrorInvalidMemcpyDirection);
  }
  if (!right) {
    const auto name = [](Kind place) { return place == Kind::device ? "the device's" : "the host's"; };
    refuse(cudaErrorInvalidValue, std::string("a copy from ") + name(from) + " to " + name(to) +
                                      " memory whose cudaMemcpyKind says otherwise");
  }
}

template <class Row>
void for_each_row(const CopyShape& shape, Row row) {
  for (std::size_t slice = 0; slice < shape.depth; ++slice) {
    for (std::size_t line = 0; line < shape.height; ++line) row(slice, line);
  }
}

std::size_t offset(const CopySide& side, std::size_t slice, std::size_t line) {
  return slice * side.slice_pitch + line * side.row_pitch;
}

void move(std::byte* to, const CopySide& to_side, const std::byte* from, const CopySide& from_side,
          const CopyShape& shape) {
  for_each_row(shape, [&](std::size_t slice, std::size_t line) {
    std::memmove(to + offset(to_side, slice, line), from + offset(from_side, slice, line), shape.width);
  });
}

// Pageable memory is the program's own, which nothing watches.
bool is_watched(MemoryMap& memory, const CopySide& side, const CopyShape& shape) {
  std::string why;
  return memory.locate(side.data, bytes_covered(side, shape), why).kind != Kind::pageable;
}

void note_access(MemoryMap& memory, void (MemoryMap::*note)(const std::string&, std::uint64_t, std::size_t),
                 const char* operation, const CopySide& side, const CopyShape& shape) {
  if (!is_watched(memory, side, shape)) return;
  const auto begin = reinterpret_cast<std::uint64_t>(side.data);
  for_each_row(shape, [&](std::size_t slice, std::size_t line) {
    (memory.*note)(operation, begin + offset(side, slice, line), shape.width);
  });
}

// The least bytes of the value, again and again.
void repeat(std::byte* to, std::size_t bytes, unsigned value, std::size_t bytes_of_value) {
  if (bytes_of_value == 1) {
    std::memset(to, static_cast<int>(value & 0xFF), bytes);
    return;
  }
  for (std::size_t at = 0; at + bytes_of_value <= bytes; at += bytes_of_value)
    std::memcpy(to + at, &value, bytes_of_value);
}

// What came from unwritten memory does so in the memory of a device, too, and is used if the host gets it.
void note_values(MemoryMap& memory, const CopySide& to, const CopySide& from, const CopyShape& shape) {
  std::string why;
  const bool to_device = memory.locate(to.data, bytes_covered(to, shape), why).kind == Kind::device;
  for_each_row(shape, [&](std::size_t slice, std::size_t line) {
    const auto source = reinterpret_cast<std::uint64_t>(from.data) + offset(from, slice, line);
    if (to_device) {
      memory.note_move(reinterpret_cast<std::uint64_t>(to.data) + offset(to, slice, line), source,
                       shape.width);
    } else {
      memory.note_use("a copy to the host", source, shape.width);
    }
  });
}

// A source that is not pinned is read before the call returns, as the program may change it afterwards.
Work staged_copy(MemoryMap& memory, const CopySide& to, const CopySide& from, const CopyShape& shape) {
  const CopySide packed{nullptr, shape.width, shape.width * shape.height};
  const auto bytes = std::make_shared<std::vector<std::byte>>(shape.width * shape.height * shape.depth);
  move(bytes->data(), packed, static_cast<const std::byte*>(from.data), from, shape);
  return {[&memory, to, packed, bytes, shape] {
            std::byte* const data = locate_again(memory, to, shape, "the destination of a copy");
            if (data == nullptr) return;
            move(data, to, bytes->data(), packed, shape);
            note_access(memory, &MemoryMap::note_write, "a copy", to, shape);
          },
          cudaGraphNodeTypeMemcpy};
}

Work direct_copy(MemoryMap& memory, const CopySide& to, const CopySide& from, const CopyShape& shape) {
  return {[&memory, to, from, shape] {
            std::byte* const target = locate_again(memory, to, shape, "the destination of a copy");
            const std::byte* const source = locate_again(memory, from, shape, "the source of a copy");
            if (target == nullptr || source == nullptr) return;
            move(target, to, source, from, shape);
            note_access(memory, &MemoryMap::note_read, "a copy", from, shape);
            note_access(memory, &MemoryMap::note_write, "a copy", to, shape);
            note_values(memory, to, from, shape);
          },
          cudaGraphNodeTypeMemcpy};
}

}  // namespace copying

void copy(Simulator& simulator, const CopySide& to, const CopySide& from, const CopyShape& shape,
          cudaMemcpyKind kind, Stream& stream, HostWaits waits) {
  using copying::Kind;
  if (shape.empty()) return;
  const Kind target = copying::locate(simulator.memory, to, shape, "the destination of a copy").kind;
  const Kind source = copying::locate(simulator.memory, from, shape, "the source of a copy").kind;
  copying::check_direction(target, source, kind);
  const bool captured = stream.capture != nullptr;  // a graph reads its source each time it runs
  const bool staged = source == Kind::pageable && !captured;
  simulator.execution.issue(stream, staged ? copying::staged_copy(simulator.memory, to, from, shape)
                                           : copying::direct_copy(simulator.memory, to, from, shape));
  if (captured) return;
  const auto on_device = [](Kind place) { return place == Kind::device || place == Kind::managed; };
  const bool between_devices = on_device(target) && on_device(source);
  const bool within_host = !on_device(target) && !on_device(source);
  if (target == Kind::pageable || within_host || (waits == HostWaits::yes && !between_devices))
    simulator.execution.finish(stream);
}

void copy(Simulator& simulator, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
          Stream& stream, HostWaits waits) {
  copy(simulator, {to, bytes, bytes}, {from, bytes, bytes}, {bytes}, kind, stream, waits);
}

void fill(Simulator& simulator, const CopySide& to, const CopyShape& shape, unsigned value, Stream& stream,
          std::size_t bytes_of_value) {
  using copying::Kind;
  if (shape.empty()) return;
  const Kind target = copying::locate(simulator.memory, to, shape, "a memory set").kind;
  if (target == Kind::pageable)
    refuse(cudaErrorInvalidValue, "a memory set of memory of the host that is not pinned");
  MemoryMap& memory = simulator.memory;
  simulator.execution.issue(
      stream, {[&memory, to, shape, value, bytes_of_value] {
                 std::byte* const data = copying::locate_again(memory, to, shape, "a memory set");
                 if (data == nullptr) return;
                 copying::for_each_row(shape, [&](std::size_t slice, std::size_t line) {
                   copying::repeat(data + copying::offset(to, slice, line), shape.width, value,
                                   bytes_of_value);
                 });
                 copying::note_access(memory, &MemoryMap::note_write, "a fill", to, shape);
               },
               cudaGraphNodeTypeMemset});
  if (target == Kind::pinned && stream.capture == nullptr) simulator.execution.finish(stream);
}

}  // namespace opgate::simulator
