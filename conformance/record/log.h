// What a recording process has seen, in a file of its own, a line each as soon as it is known.
//
//   {"torch": "2.15.0"}
//   {"library": FILE}                                          one that registers operators
//   {"call": 0, "op": "ns::op", "schema": "...", "arguments": [...],
//    "names": [...]}                                         a kind of call, when it is first seen
//   {"count": [0, 128, 3]}                                     so many of this kind until now, so many raised
//   {"left_out": "ns::op", "because": "a sparse tensor", "count": 7}
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace opgate {

/// Appends to a file in a folder, named after the process. Every line is written at once: what is known
/// survives a crash of the program. A forked child goes on in a file of its own.
class RecordingLog {
 public:
  explicit RecordingLog(std::string folder) : folder_(std::move(folder)) {}
  ~RecordingLog();
  RecordingLog(const RecordingLog&) = delete;
  RecordingLog& operator=(const RecordingLog&) = delete;

  void write(const nlohmann::json& line);
  /// In a forked child: the parent's file is left to the parent.
  void forget_file();

 private:
  std::string folder_;
  int file_ = -1;
};

}  // namespace opgate
