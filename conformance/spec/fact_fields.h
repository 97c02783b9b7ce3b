// The facts of a subject as tables: JSON has all of them, the ledger those that a spec determines. What a
// spec names has another table; see naming_words.h.
#pragma once

#include <string_view>
#include <tuple>

#include "spec/subject_facts.h"

namespace opgate {

/// A fact that is a line at the top of the ledger: `KEY = value`.
template <class Value>
struct FactLine {
  std::string_view key;
  Value SubjectFacts::*value;
  bool even_if_empty = false;  ///< whether the ledger has a line for an empty list or text, too
};

/// A fact that is a table of the ledger, [spec.KEY], unless it is empty.
template <class Value>
struct FactTable {
  std::string_view key;
  Value SubjectFacts::*value;
  std::string_view comment = "";  ///< after the heading
};

/// A fact that the ledger does not have.
template <class Value>
struct OtherFact {
  std::string_view key;
  Value SubjectFacts::*value;
};

/// In the order of the ledger.
inline constexpr std::tuple kFactLines{
    FactLine{"schema", &SubjectFacts::schema, true},
    FactLine{"kernels", &SubjectFacts::kernels, true},
    FactLine{"python_kernels", &SubjectFacts::python_kernels},
    FactLine{"tags", &SubjectFacts::tags, true},
    FactLine{"promises", &SubjectFacts::promises, true},
    FactLine{"accuracy", &SubjectFacts::accuracy},
    FactLine{"gradient_accuracy", &SubjectFacts::gradient_accuracy},
    FactLine{"reference", &SubjectFacts::reference, true},
    FactLine{"draft", &SubjectFacts::draft},
};

/// In the order of the ledger.
inline constexpr std::tuple kFactTables{
    FactTable{"dtypes", &SubjectFacts::dtypes},
    FactTable{"samples", &SubjectFacts::samples},
    FactTable{"rejections", &SubjectFacts::rejections},
    FactTable{"benches", &SubjectFacts::benches},
    FactTable{"speed_limits", &SubjectFacts::speed_limits, "times the speed of the baseline"},
};

inline constexpr std::tuple kOtherFacts{
    OtherFact{"where", &SubjectFacts::where},
    OtherFact{"sources", &SubjectFacts::sources},
    OtherFact{"files_read", &SubjectFacts::files_read},
    OtherFact{"files_not_followed", &SubjectFacts::files_not_followed},
};

/// Calls `visit` with each row of the tables, in this order.
template <class Visitor, class... Tables>
void for_each_row(const Visitor& visit, const Tables&... tables) {
  const auto visit_all = [&](const auto& table) {
    std::apply([&](const auto&... row) { (visit(row), ...); }, table);
  };
  (visit_all(tables), ...);
}

}  // namespace opgate
