// The labels of a function while its body is read.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/program.h"
#include "ptx/source/tokens.h"

namespace opgate::simulator {

/// A label is known in its scope and in those inside of it, before and after its place. Branches get their
/// targets when the scope of the label ends.
class Labels {
 public:
  explicit Labels(Function& function) : function_(function), scopes_(1) {}

  void open_scope() { scopes_.emplace_back(); }
  void close_scope(unsigned line);

  /// Throws where a scope is open or a label is missing.
  void finish(unsigned line);

  /// The next instruction has this label.
  void place(const Token& label);

  /// The label that was placed last. In front of `.branchtargets`, it is the name of the list.
  const Token& latest() const { return latest_; }

  /// The next instruction branches to this label.
  void add_branch(const Token& label);

  /// The index of the list of targets with this name, which may come after the instruction that uses it.
  std::size_t table(const std::string& name);
  void add_target(std::size_t table, const Token& label);

 private:
  // Where the place of a label must be put in: an instruction, or an entry of a list of targets.
  struct Use {
    Token label;
    std::size_t at = 0;
    bool in_table = false;
    std::size_t entry = 0;
  };
  struct Scope {
    std::unordered_map<std::string, std::size_t> places;
    std::vector<Use> uses;
  };

  void resolve();

  Function& function_;
  std::vector<Scope> scopes_;
  Token latest_;
  std::unordered_map<std::string, std::size_t> tables_;
};

}  // namespace opgate::simulator
