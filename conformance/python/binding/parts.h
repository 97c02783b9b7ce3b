// The parts of the module opgate._engine. Each of these functions is defined in the file of its name, and
// adds what Python may call of it to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace opgate {

void define_calls(pybind11::module_& module);
void define_classes(pybind11::module_& module);
void define_comparison(pybind11::module_& module);
void define_devices(pybind11::module_& module);
void define_judging(pybind11::module_& module);
void define_loaded(pybind11::module_& module);
void define_operators(pybind11::module_& module);
void define_process(pybind11::module_& module);
void define_samples(pybind11::module_& module);
void define_statistics(pybind11::module_& module);

}  // namespace opgate
