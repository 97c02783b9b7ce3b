// What a program must know of a module of PTX before it can launch kernels.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <opgate_sim/notation.h>

namespace opgate::simulator {

/// One parameter of a kernel in its block of parameters. Offset and size in bytes.
struct Parameter {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

/// What a launch must know of a kernel.
struct Signature {
  std::vector<Parameter> parameters;
  std::size_t parameter_bytes = 0;
  std::size_t static_shared_bytes = 0;
  std::size_t local_bytes = 0;  ///< of each thread
  unsigned max_threads = 1024;  ///< of a block: `.maxntid`, or the device's limit
  /// `.reqnctapercluster`, if the kernel asks for clusters of one size.
  std::optional<Extent> required_cluster;
  unsigned target = 0;  ///< the compute capability that the PTX was written for: 90 for `.target sm_90a`
};

/// A variable in global or constant memory that a module declares.
struct Variable {
  std::string name;
  std::size_t bytes = 0;
  std::size_t alignment = 1;
  bool constant = false;
  std::vector<unsigned char> initial;  ///< empty if the PTX gives no initializer: zeros
};

}  // namespace opgate::simulator
