// The C compiler of the machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace opgate::simulator {

class CCompiler {
 public:
  /// The first of $OPGATE_SIM_CC, cc, gcc and clang that runs, or the given one and no other. Without a value
  /// where there is none.
  static std::optional<CCompiler> find(const std::string& given);

  /// What the results depend on: the compiler, its version and its options.
  const std::string& identity() const { return identity_; }

  /// Makes a shared object of a file. False if that fails, with what the compiler says in `why`.
  bool compile(const std::string& source, const std::string& object, std::string& why) const;

 private:
  CCompiler(std::string program, std::string version);

  std::string program_;
  std::vector<std::string> options_;
  std::string identity_;
};

}  // namespace opgate::simulator
