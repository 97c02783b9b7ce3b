// Copies and fills of memory, in up to three dimensions.
#pragma once

#include <driver_types.h>

#include <cstddef>

#include "runtime/streams/stream.h"

namespace opgate::simulator {

struct Simulator;

/// One side of a copy: bytes between the starts of rows and of slices.
struct CopySide {
  const void* data = nullptr;
  std::size_t row_pitch = 0;
  std::size_t slice_pitch = 0;
};

/// How much is copied: bytes of a row, rows of a slice, slices.
struct CopyShape {
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t depth = 1;

  bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

enum class HostWaits : bool { no, yes };

/// Issues a copy. `yes`: as cudaMemcpy, which returns after the copy where the host's memory takes part in
/// it; `no`: as cudaMemcpyAsync, which does so where that memory is not pinned. Refuses regions and
/// directions that are wrong.
void copy(Simulator& simulator, const CopySide& to, const CopySide& from, const CopyShape& shape,
          cudaMemcpyKind kind, Stream& stream, HostWaits waits);

/// The same in one dimension.
void copy(Simulator& simulator, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
          Stream& stream, HostWaits waits);

/// Issues a fill with a value of 1, 2 or 4 bytes.
void fill(Simulator& simulator, const CopySide& to, const CopyShape& shape, unsigned value, Stream& stream,
          std::size_t bytes_of_value = 1);

}  // namespace opgate::simulator
