// The state of a Python process, and what it reports of itself.
#include <pybind11/stl.h>

#include "call/invoke.h"
#include "crashes/crash_handlers.h"
#include "memory/guard_pages.h"
#include "process/child_process.h"
#include "process/process_state.h"
#include "python/binding/parts.h"

namespace opgate {
namespace {

namespace py = pybind11;

void describe(const std::exception& error, Raised& raised) {
  const auto* const in_python = dynamic_cast<const py::error_already_set*>(&error);
  if (in_python == nullptr) return;
  const py::gil_scoped_acquire locked;
  raised.types.clear();
  for (const py::handle type : in_python->type().attr("__mro__"))
    raised.types.push_back(py::str(type.attr("__name__")));
  const auto text = py::reinterpret_steal<py::object>(PyObject_Str(in_python->value().ptr()));
  if (!text) PyErr_Clear();  // an exception whose __str__ raises
  if (text && PyUnicode_GetLength(text.ptr()) > 0) return;
  raised.message = raised.types.front();
  raised.has_text = false;
}

void forget_exception() {
  const py::gil_scoped_acquire locked;
  PyErr_Clear();
}

}  // namespace

void define_process(py::module_& module) {
  set_python_exceptions({.describe = &describe, .forget = &forget_exception});
  module.def("end_of_printed", &end_of_printed,
             "Writes what C's stdio still holds, and returns the place of stdout behind it; -1 without one.");
  module.def(
      "send_stack_of_crashes",
      [] {
        guard_pages::report_faults();
        send_stack_of_crashes();
      },
      "From now on, this worker reports to the supervisor where it was when a signal ends it.");
  py::class_<ProcessState>(module, "ProcessState",
                           "A snapshot of the state of this process and thread that operators "
                           "must leave as they found it, such as grad mode; see process/process_state.h.")
      .def(py::init([] { return ProcessState(c10::kCPU); }))
      .def("restore_or_end", &ProcessState::restore_or_end,
           "Restores the state of the snapshot; ends the process where that is impossible.");
}

}  // namespace opgate
