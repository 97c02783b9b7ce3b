// All broken cases of one operator on one device, and questions about them.
#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "defects/broken_case.h"

namespace opgate {

class Symptoms {
 public:
  using Test = std::function<bool(const BrokenCase&)>;

  /// The case stays where it is from then on.
  const BrokenCase& add(BrokenCase broken);

  const std::deque<BrokenCase>& cases() const { return cases_; }

  /// The first case that passes the test; null if none does.
  const BrokenCase* find(const Test& test) const;

  /// The first case with one of these faults, whichever call shows it.
  const BrokenCase* with(std::initializer_list<std::string_view> faults) const;

  /// The same among the cases of one call, whichever check it is.
  const BrokenCase* at_call_of(const BrokenCase& of, std::initializer_list<std::string_view> faults) const;

  /// The same among the calls of the sample as it is, in the dtype of `of`.
  const BrokenCase* at_undamaged_sample_of(const BrokenCase& of,
                                           std::initializer_list<std::string_view> faults) const;

  /// The same among all calls of samples as they are, in any dtype.
  const BrokenCase* at_undamaged_samples(std::initializer_list<std::string_view> faults) const;

 private:
  const BrokenCase* find(std::initializer_list<std::string_view> faults, const Test& test) const;

  std::deque<BrokenCase> cases_;
  std::map<std::string, std::vector<const BrokenCase*>, std::less<>> by_fault_;
};

}  // namespace opgate
