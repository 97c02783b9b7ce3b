// The log of a recording process: a file of its own, with one line for each fact as soon as it is known.
//
//   {"torch": "2.15.0"}
//   {"library": FILE}                                          a loaded library, which may define operators
//   {"call": 0, "op": "ns::op", "schema": "...", "arguments": [...],
//    "names": [...]}                                         a kind of call, when it is first seen
//   {"count": [0, 128, 3]}                                     kind 0: 128 calls so far, 3 of them raised
//   {"left_out": "ns::op", "because": "with a sparse tensor", "count": 7}
//   {"function": "module:qualname", "operators": {"opgate_functions::module_qualname": {"x": "Tensor"}},
//    "parameters": [{"name", "written", "tuple", "keyword", "default"}],
//    "returns": [{"type", "argument"}], "launcher": false}     a function, and the operators through which
//                                                              its calls pass, one for each combination of
//                                                              types of arguments; `returns` is null until
//                                                              a call has returned; `launcher`: it is known
//                                                              only because it names a kernel
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace opgate {

/// Appends to a file in a folder, named after the process. Every line is written immediately, so that it
/// survives a crash of the program. A forked child continues in a file of its own.
class RecordingLog {
 public:
  explicit RecordingLog(std::string folder) : folder_(std::move(folder)) {}
  ~RecordingLog();
  RecordingLog(const RecordingLog&) = delete;
  RecordingLog& operator=(const RecordingLog&) = delete;

  void write(const nlohmann::json& line);
  /// Called in a forked child, so that only the parent writes to the parent's file.
  void forget_file();

 private:
  std::string folder_;
  int file_ = -1;
};

}  // namespace opgate
