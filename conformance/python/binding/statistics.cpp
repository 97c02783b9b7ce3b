// The statistics of measured values, for the half that is written in Python.
#include "bench/statistics.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <utility>
#include <vector>

#include "python/binding/parts.h"

namespace opgate {
namespace {

namespace py = pybind11;

std::pair<double, double> interval_of(const std::vector<double>& values) {
  if (values.size() < kFewestValues)
    throw py::value_error(fmt::format("an interval needs {} values or more", kFewestValues));
  const Interval interval = median_interval(values);
  return {interval.low, interval.high};
}

}  // namespace

void define_statistics(pybind11::module_& module) {
  module.attr("fewest_values") = kFewestValues;
  module.def("median_interval", &interval_of, py::arg("values"),
             "The bounds between which the median lies with 95 % confidence.");
}

}  // namespace opgate
