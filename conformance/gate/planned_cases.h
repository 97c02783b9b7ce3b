// Which cases are planned for one operator on one device, exactly and in little space: most calls of an
// operator have the same checks in the same dtypes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opgate {

/// By name of the dtype.
template <class Value>
using ByDtype = std::map<std::string, Value>;

/// The sum over all dtypes.
size_t total(const ByDtype<size_t>& counts);

/// How many cases there are, by check.
using CaseCounts = std::map<std::string, ByDtype<size_t>>;

/// The counts of those checks that make calls; see Check::needs_device.
CaseCounts of_calls(CaseCounts counts);

/// The sum over all checks and dtypes.
size_t total(const CaseCounts& counts);

/// The checks of a call, and the dtypes that each is planned in.
using CheckedDtypes = std::map<std::string, std::set<std::string>>;

/// A planned case of a known operator and device.
struct PlannedCase {
  std::string sample, variant, dtype, check;

  auto operator<=>(const PlannedCase&) const = default;
};

class PlannedCases {
 public:
  /// Adds a call and its checks. A call that is added twice has the checks of both.
  void add(const std::string& sample, const std::string& variant, const CheckedDtypes& checks);

  /// The checks of a call; null if it is not planned.
  const CheckedDtypes* find(const std::string& sample, const std::string& variant) const;
  bool contains(const std::string& sample, const std::string& variant, const std::string& dtype) const;

  bool empty() const { return calls_.empty(); }
  CaseCounts count() const;

  /// The cases of those checks; calls without any are left out.
  PlannedCases of_checks(const std::function<bool(const std::string& check)>& keep) const;

  /// The variants of each sample, grouped by their checks: by sample, then by the position in groups().
  std::map<std::string, std::map<size_t, std::vector<std::string>>> by_sample() const;
  const std::vector<CheckedDtypes>& groups() const { return groups_; }

  /// The samples, by name.
  std::set<std::string> samples() const;

  /// The cases that `later` does not have. `renamed` has the later names of samples that it calls otherwise.
  std::vector<PlannedCase> lost_in(const PlannedCases& later,
                                   const std::map<std::string, std::string>& renamed) const;

  bool operator==(const PlannedCases& other) const;

 private:
  size_t group_of(const CheckedDtypes& checks);

  std::vector<CheckedDtypes> groups_;
  std::map<CheckedDtypes, size_t> positions_;
  std::map<std::pair<std::string, std::string>, size_t>
      calls_;  // by sample and variant: a position in groups_
};

/// Gathers cases that come one by one and in any order.
class PlannedCasesBuilder {
 public:
  void add(std::string_view sample, std::string_view variant, std::string_view dtype, std::string_view check);
  PlannedCases build() const;

 private:
  uint16_t number_of(std::string_view word);

  std::map<std::string, uint16_t, std::less<>> numbers_;
  std::vector<std::string> words_;
  // A million cases must not take more memory than their results: four bytes for each.
  std::map<std::string, std::map<std::string, std::vector<std::pair<uint16_t, uint16_t>>, std::less<>>,
           std::less<>>
      calls_;  // by sample and variant: check and dtype
};

}  // namespace opgate
