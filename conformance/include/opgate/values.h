// The kind of values that a tensor argument takes. A Domain has a name, so that it can be written into a
// package or a journal and read back: `uniform`, `uniform(0,1)`. The values come from a counter-based
// generator (values/counter.h). The functions that make them are in <opgate/domains.h>.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace opgate {

/// The numbers of a domain. They never change, so that copies share them: a tensor may have a million.
class DomainParameters {
 public:
  DomainParameters() = default;
  DomainParameters(std::vector<double> numbers)
      : numbers_(std::make_shared<const std::vector<double>>(std::move(numbers))) {}
  DomainParameters(std::initializer_list<double> numbers) : DomainParameters(std::vector<double>(numbers)) {}

  operator const std::vector<double>&() const { return all(); }
  const std::vector<double>& all() const {
    static const std::vector<double> kNone;
    return numbers_ == nullptr ? kNone : *numbers_;
  }
  auto begin() const { return all().begin(); }
  auto end() const { return all().end(); }
  bool empty() const { return all().empty(); }
  std::size_t size() const { return all().size(); }
  double front() const { return all().front(); }
  double back() const { return all().back(); }
  double operator[](std::size_t i) const { return all()[i]; }
  double at(std::size_t i) const { return all().at(i); }

  bool operator==(const DomainParameters& other) const {
    return numbers_ == other.numbers_ || all() == other.all();
  }

 private:
  std::shared_ptr<const std::vector<double>> numbers_;
};

struct Domain {
  std::string family;           ///< a name registered in values/, such as "uniform"
  DomainParameters parameters;  ///< the family's parameters, such as {low, high}

  bool operator==(const Domain&) const = default;
};

/// "uniform" or "uniform(0,1)".
std::string to_string(const Domain& domain);

/// The inverse of to_string. Throws SpecError if the text names no registered family, or where a
/// parameter is not a number or their count is wrong.
Domain domain_from_string(const std::string& text);

}  // namespace opgate
