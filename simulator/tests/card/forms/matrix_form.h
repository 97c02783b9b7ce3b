// Products of matrices: mma with registers as they are, wmma through loads and stores.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "card/matrix_numbers.h"
#include "card/side.h"

namespace opgate::card {

/// The matrices are in the order d, a, b, c.
struct MatrixForm {
  std::string opcode;
  std::array<std::string, 4> types;
  std::array<unsigned, 4> registers;  ///< of a lane
  /// For wmma: what loads and stores are called ("row.m16n16k16"), and the leading dimension of each matrix.
  std::string loads;
  std::array<unsigned, 4> strides{};
  std::array<std::string, 4> layouts{};

  bool is_wmma() const { return !loads.empty(); }
};

std::vector<MatrixForm> all_matrix_forms();

/// One warp a block, each with matrices of its own.
Work work_of(const MatrixForm& form, Numbers numbers);

constexpr unsigned kProducts = 64;          ///< how many of them are compared
constexpr std::size_t kMatrixBytes = 2048;  ///< of each matrix in memory

}  // namespace opgate::card
