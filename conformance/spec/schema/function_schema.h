// The schema of a function that no dispatcher knows, made from what its calls have shown.
#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace opgate {

class FunctionSchema {
 public:
  /// Takes a line {"function"} of record/log.h. Several processes may each have seen a part of the calls.
  void add(const nlohmann::json& seen);

  /// "module:qualname(Tensor x, Tensor(a!) out, *, float eps=1e-05) -> ()"; none if no call has returned.
  std::optional<std::string> text() const;

  /// Why the schema has no place for calls through this operator, "a Tensor as an argument, where another
  /// call has an int"; empty if it has one. A function that is known because it names a kernel, and that
  /// neither returns nor writes tensors, has no place for any call: it checks its arguments.
  std::string misfit(const std::string& op) const;

  /// The names of the parameters in the order of the schema.
  std::vector<std::string> names() const;

  /// The parameters whose tensors calls have written.
  std::vector<std::string> written() const;

  /// The parameters that get tuples.
  std::set<std::string> tuples() const;

  /// The arguments of a call, which were given for `names`, in the order of the schema. None if the call
  /// gives no value for a parameter, and no default is known.
  std::optional<nlohmann::json> in_order(const nlohmann::json& arguments, const nlohmann::json& names) const;

 private:
  struct Parameter {
    std::string name;
    std::string type = {};
    bool written = false, tuple = false, keyword = false;
    std::optional<nlohmann::json> default_value = {};
  };

  void take_parameter(const nlohmann::json& seen);
  void find_types();
  bool checks_arguments() const;

  std::string function_;
  std::vector<Parameter> seen_parameters_;                          // without types
  std::vector<Parameter> parameters_;                               // those given by keyword only stand last
  std::map<std::string, std::map<std::string, std::string>> seen_;  // types, by operator and parameter
  std::map<std::string, std::string> misfits_;                      // by operator
  std::optional<nlohmann::json> returns_;
  bool is_launcher_ = false;
};

}  // namespace opgate
