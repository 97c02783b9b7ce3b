// Functions whose calls were recorded: their schemas, as the calls have shown them.
#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace opgate {

class RecordedFunctions {
 public:
  /// Takes a line {"function"} of a log. Several processes may each have seen a part of the calls.
  void read(const nlohmann::json& line);

  /// The function whose calls pass through this operator; null if it stands for none.
  const std::string* function_of(const std::string& op) const;

  /// "module:qualname(Tensor x, Tensor(a!) out, *, float eps=1e-05) -> ()"; none for what is no function, or
  /// if no call has returned.
  std::optional<std::string> schema(const std::string& function) const;

  /// The parameters that get tuples.
  std::set<std::string> tuples(const std::string& function) const;

  /// The arguments of a call, which were given for `names`, in the order of the schema. None if the call
  /// gives no value for a parameter, and no default is known.
  std::optional<nlohmann::json> in_order(const std::string& function, const nlohmann::json& arguments,
                                         const nlohmann::json& names) const;

  /// The names of the parameters in the order of the schema.
  std::vector<std::string> names(const std::string& function) const;

 private:
  struct Parameter {
    std::string name, type;
    bool written = false, tuple = false, keyword = false;
    std::optional<nlohmann::json> default_value = {};
  };
  struct Function {
    std::vector<Parameter> parameters;  // those that are given by keyword only stand at the end
    std::optional<nlohmann::json> returns;
  };

  std::map<std::string, std::string> functions_;  // by operator
  std::map<std::string, Function> seen_;
};

}  // namespace opgate
