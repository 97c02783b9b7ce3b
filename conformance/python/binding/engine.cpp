// The module opgate._engine: the engine inside a Python process, so that the C++ and the Python half use
// the same samples, layouts and comparison.
#include <opgate/error.h>

#include "base/build.h"
#include "python/binding/parts.h"

PYBIND11_MODULE(_engine, module) {
  module.doc() = "The OpGate engine: samples, layouts, comparison and digests, the same as in C++.";
  module.attr("version") = opgate::kVersion;
  pybind11::register_exception<opgate::SetupError>(module, "SetupError", PyExc_RuntimeError);
  opgate::define_calls(module);
  opgate::define_classes(module);
  opgate::define_comparison(module);
  opgate::define_devices(module);
  opgate::define_judging(module);
  opgate::define_loaded(module);
  opgate::define_operators(module);
  opgate::define_process(module);
  opgate::define_samples(module);
  opgate::define_statistics(module);
}
