// The words after the dots of an opcode.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/types.h"

namespace opgate::simulator {

/// The decoder of an instruction takes the words that it knows. An instruction with words left over is not
/// simulated, so that no modifier is ignored by mistake.
class Modifiers {
 public:
  /// `opcode` with its modifiers: "add.rn.ftz.f32".
  explicit Modifiers(std::string_view opcode);

  const std::string& name() const { return name_; }

  bool has(std::string_view word) const;
  bool take(std::string_view word);

  /// The index of the first of these words that is there.
  std::optional<int> take_one(std::initializer_list<std::string_view> words);

  /// The index of the word that comes first in the opcode among these.
  std::optional<int> take_next(std::initializer_list<std::string_view> words);

  /// Takes words that do not change what threads do that run one after the other: memory orders, scopes,
  /// cache hints.
  void take_hints();

  /// The first type among the words. `Type::none` where there is none.
  Type take_type();

  /// `.rn`, `.rz`, `.rm` or `.rp`.
  std::optional<Rounding> take_rounding();

  /// Generic where none is named. Constant memory is global memory that the host has filled.
  Space take_space();

  /// 1, 2, 4 or 8 with `.v2`, `.v4` or `.v8`.
  int take_lanes();

  void take_all() { words_.clear(); }

  bool none_left() const { return words_.empty(); }

 private:
  std::string name_;
  std::vector<std::string_view> words_;
};

}  // namespace opgate::simulator
