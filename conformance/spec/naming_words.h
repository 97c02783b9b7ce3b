// The words with which a spec names arguments, results or conditions, such as wants_contiguous("x"), as one
// table. The writers of specs in C++ and Python, JSON, the ledger and the gate read it. CONTRIBUTING says how
// a word is added.
#pragma once

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace opgate {

/// What the words of one spec name.
struct SpecNames {
  std::set<std::string> trusted;           ///< arguments whose values the operator need not check
  std::set<std::string> wants_contiguous;  ///< arguments that are refused unless they are contiguous
  std::set<size_t> unspecified;            ///< indices of schema results whose values are not promised
  std::set<size_t> on_cpu;                 ///< indices of schema results that lie on the CPU on every device
  std::set<std::string> unspecified_for;   ///< conditions under which results are not promised
};

/// A word with which a spec names something, and where the names are kept.
struct NamingWord {
  enum class Of { argument, result, condition };
  using Texts = std::set<std::string> SpecNames::*;  ///< for arguments and conditions
  using Indices = std::set<size_t> SpecNames::*;     ///< for results

  std::string_view word;  ///< as authors write it: "trusts"
  std::string_view key;   ///< in JSON and in the ledger: "trusted"
  Of of;
  std::variant<Texts, Indices> names;
  /// What the gate reports if a change of the spec names others, which it refuses. Empty for a word that
  /// exempts what it names from checks: the gate refuses one name more, and one less is better.
  std::string_view if_others = "";
};

/// In the order of the ledger.
inline constexpr std::array kNamingWords{
    NamingWord{"trusts", "trusted", NamingWord::Of::argument, &SpecNames::trusted},
    NamingWord{"wants_contiguous", "wants_contiguous", NamingWord::Of::argument,
               &SpecNames::wants_contiguous},
    NamingWord{"unspecified", "unspecified", NamingWord::Of::result, &SpecNames::unspecified},
    NamingWord{"on_cpu", "on_cpu", NamingWord::Of::result, &SpecNames::on_cpu,
               "other results lie on the CPU"},
    NamingWord{"unspecified_for", "unspecified_for", NamingWord::Of::condition, &SpecNames::unspecified_for},
};

/// The row of `word`, as authors write it. Throws std::logic_error if the table has none.
const NamingWord& naming_word(std::string_view word);

/// What `word` names, as sorted texts.
std::vector<std::string> names_as_texts(const NamingWord& word, const SpecNames& names);

}  // namespace opgate
