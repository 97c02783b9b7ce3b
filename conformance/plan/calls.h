// The calls of a plan, 20 bytes each. Keys and ids are made on demand, so that a plan of a million cases
// fits easily into the memory of the supervisor and of each worker.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/accelerator.h"
#include "inputs/call_key.h"
#include "judging/check.h"

namespace opgate {

using CheckList = std::vector<const Check*>;

/// One call, and the checks that judge it. A case is a call and one of its checks.
struct PlannedCall {
  std::string id;
  CallKey key;
  const CheckList& checks;  ///< owned by the plan
};

/// Calls in the order in which they were added. Points into the specs and checks that it was made from.
class Calls {
 public:
  using Position = uint32_t;

  size_t size() const { return calls_.size(); }
  bool empty() const { return calls_.empty(); }
  PlannedCall operator[](Position call) const { return {id(call), key(call), checks(call)}; }

  CallKey key(Position call) const;
  std::string id(Position call) const { return call_id(key(call)); }
  const Spec& spec(Position call) const { return *samples_[calls_[call].sample].spec; }
  c10::DeviceType device(Position call) const { return calls_[call].device; }
  bool simulated(Position call) const { return calls_[call].simulated; }
  std::string device_name(Position call) const { return opgate::device_name(device(call), simulated(call)); }
  const CheckList& checks(Position call) const { return lists_[calls_[call].checks]; }
  /// The kind of worker that runs the check: usually the check's own; for an operator that is written in
  /// Python, the Python worker runs the native checks, too.
  Worker worker(Position call, const Check& check) const;

  /// Whether a check of this kind of worker calls an operator on this accelerator, which is present. The
  /// accelerator is asked last: a process that has asked its driver can no longer be forked.
  bool needs(const Accelerator& accelerator, Worker kind) const;

  /// The number of this call's first case; the cases of all calls are numbered consecutively from 0.
  size_t first_case(Position call) const { return calls_[call].first_case; }
  /// How many cases all calls have together.
  size_t cases() const { return cases_; }

  /// The checks that have a case.
  std::set<const Check*> checks() const;

  /// For each call on the type of device that is simulated: the same call on the simulated device, where it
  /// is planned.
  std::map<Position, Position> simulated_twins() const;

  /// The ids of the subjects that have a call.
  std::set<std::string> subjects() const;

  /// SHA-1 over all cases in order: equal where two lists have the same cases in the same order.
  std::string digest() const;

  /// Adds a call; its checks must not be empty.
  void add(const CallKey& key, const CheckList& checks);

  class Iterator {
   public:
    using value_type = PlannedCall;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Iterator(const Calls* calls, size_t at) : calls_(calls), at_(at) {}
    PlannedCall operator*() const { return (*calls_)[static_cast<Position>(at_)]; }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return {calls_, at_++}; }
    bool operator==(const Iterator&) const = default;

   private:
    const Calls* calls_ = nullptr;
    size_t at_ = 0;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

 private:
  struct SampleOfSpec {
    const Spec* spec;
    const Sample* sample;
  };
  struct Call {
    uint32_t sample;   // this and the next two are indices into the lists below
    uint32_t variant;  // an index, because the texts repeat from sample to sample
    uint32_t checks;
    uint32_t first_case;
    c10::ScalarType dtype;
    c10::DeviceType device;
    bool simulated;
  };

  std::vector<Call> calls_;
  std::vector<SampleOfSpec> samples_;
  std::vector<std::string> variants_;
  std::vector<CheckList> lists_;
  std::unordered_map<std::string, uint32_t> variant_numbers_;
  std::map<CheckList, uint32_t> list_numbers_;
  size_t cases_ = 0;
};

}  // namespace opgate
