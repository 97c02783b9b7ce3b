// The processes from which workers are forked for as long as there are mutants, one for each kind of worker.
#pragma once

#include "run/python/python_half.h"
#include "run/worker/worker_template.h"

namespace opgate {

class WorkerTemplates {
 public:
  WorkerTemplates(const Programs& programs, const Setup& setup, PythonHalf& python)
      : native_(worker_program(programs, setup, Worker::native)),
        native_simulated_(worker_program(programs, setup, Worker::native, true)),
        python_simulated_(worker_program(programs, setup, Worker::python, true)),
        python_(python.process()) {}

  WorkerTemplate& of(Worker kind, bool simulated) {
    if (kind == Worker::native) return simulated ? native_simulated_ : native_;
    return simulated ? python_simulated_ : python_;
  }

  void dismiss() {
    for (WorkerTemplate* each : {&native_, &native_simulated_, &python_simulated_, &python_}) each->dismiss();
  }

 private:
  WorkerTemplate native_, native_simulated_, python_simulated_;
  WorkerTemplate& python_;
};

}  // namespace opgate
