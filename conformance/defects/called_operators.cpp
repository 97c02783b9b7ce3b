#include "defects/called_operators.h"

#include <algorithm>

namespace opgate {
namespace {

using Called = std::map<std::string, std::set<std::string>>;

bool calls(const Called& called, const std::string& caller, const std::string& op) {
  const auto found = called.find(caller);
  return found != called.end() && found->second.contains(op);
}

// A caller may give its own names to the arguments that it passes on, so that what the fault is about is not
// compared. A crash has its place in the code, which is the same for every caller.
bool is_the_same(const BrokenCase& of_caller, const BrokenCase& of_called) {
  if (of_caller.fault.kind != of_called.fault.kind) return false;
  if (!of_caller.is_crash()) return true;
  const std::vector<std::string> mine = of_caller.innermost_functions();
  const std::vector<std::string> theirs = of_called.innermost_functions();
  return mine.empty() == theirs.empty() && (mine.empty() || mine.front() == theirs.front());
}

CasesOfDefect* find_the_same(std::vector<CasesOfDefect>& defects, const BrokenCase& of_caller) {
  const auto found = std::ranges::find_if(
      defects, [&](const CasesOfDefect& defect) { return is_the_same(of_caller, *defect.root); });
  return found == defects.end() ? nullptr : &*found;
}

// A case with the fault of the defect and a stack; the root if there is none.
const BrokenCase& with_stack(const CasesOfDefect& defect) {
  const auto found = std::ranges::find_if(defect.cases, [&](const BrokenCase* each) {
    return !each->judgement.stack.empty() && each->group() == defect.root->group();
  });
  return found == defect.cases.end() ? *defect.root : **found;
}

// Whether both crash in the same way, or misread the argument of one name, at one line of the same function.
// Stacks have no lines of headers of PyTorch or of the system.
bool are_at_one_line(const BrokenCase& one, const BrokenCase& other) {
  if (one.judgement.stack.empty() || other.judgement.stack.empty()) return false;
  if (one.is_crash() != other.is_crash() || (!one.is_crash() && one.fault.about != other.fault.about))
    return false;
  const std::string& frame = one.judgement.stack.front();
  const size_t line = frame.find(" at ");
  if (line == std::string::npos) return false;
  return other.judgement.stack.front().ends_with(frame.substr(line)) &&
         one.innermost_functions().front() == other.innermost_functions().front() &&
         one.fault.kind == other.fault.kind && one.how_it_ended() == other.how_it_ended();
}

// The defect of a called operator that `defect` is part of; null if there is none. An operator that calls
// others in its turn passes its own on first, so that all end at the innermost.
CasesOfDefect* explanation(const std::string& caller, const CasesOfDefect& defect,
                           std::map<std::string, std::vector<CasesOfDefect>>& defects, const Called& called) {
  for (auto& [op, of_called] : defects) {
    if (op == caller || !calls(called, caller, op) || calls(called, op, caller)) continue;
    if (CasesOfDefect* const same = find_the_same(of_called, *defect.root)) return same;
  }
  return nullptr;
}

}  // namespace

void move_to_called_operators(std::map<std::string, std::vector<CasesOfDefect>>& defects,
                              const Called& called) {
  // Those that call fewest are called by the others.
  std::vector<std::string> innermost_first;
  for (const auto& [op, all] : defects) innermost_first.push_back(op);
  std::ranges::stable_sort(innermost_first, {}, [&](const std::string& op) {
    const auto found = called.find(op);
    return found == called.end() ? 0 : found->second.size();
  });
  for (const std::string& caller : innermost_first) {
    std::erase_if(defects.at(caller), [&](const CasesOfDefect& defect) {
      CasesOfDefect* const same = explanation(caller, defect, defects, called);
      if (same == nullptr) return false;
      for (const auto& cases : {defect.cases, defect.of_callers})
        same->of_callers.insert(same->of_callers.end(), cases.begin(), cases.end());
      return true;
    });
  }
}

void move_to_shared_lines(std::map<std::string, std::vector<CasesOfDefect>>& defects) {
  std::vector<CasesOfDefect*> earlier_defects;
  for (auto& [op, all] : defects) {
    std::erase_if(all, [&](const CasesOfDefect& defect) {
      const auto same = std::ranges::find_if(earlier_defects, [&](const CasesOfDefect* earlier) {
        return are_at_one_line(with_stack(*earlier), with_stack(defect));
      });
      if (same == earlier_defects.end()) return false;
      for (const auto& cases : {defect.cases, defect.of_callers})
        (*same)->of_sharing.insert((*same)->of_sharing.end(), cases.begin(), cases.end());
      return true;
    });
    for (CasesOfDefect& defect : all) earlier_defects.push_back(&defect);
  }
}

}  // namespace opgate
