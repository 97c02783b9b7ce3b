#include "plan/calls.h"

#include <c10/util/hash.h>
#include <fmt/compile.h>
#include <fmt/format.h>
#include <opgate/error.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "device/simulator.h"
#include "spec/spec.h"

namespace opgate {
namespace {

// SHA-1 over a stream of any length, in chained blocks, because c10::sha1 takes one whole string.
class Digest {
 public:
  void add(std::string_view text) {
    block_ += text;
    if (block_.size() >= kBlockBytes) close_block();
  }
  std::string str() {
    close_block();
    return block_;
  }

 private:
  static constexpr size_t kBlockBytes = 1 << 16;
  void close_block() { block_ = c10::sha1(block_).str(); }
  std::string block_;
};

}  // namespace

CallKey Calls::key(Position position) const {
  const Call& call = calls_[position];
  const SampleOfSpec& about = samples_[call.sample];
  return {about.spec, about.sample, call.dtype, call.device, variants_[call.variant], call.simulated};
}

Worker Calls::worker(Position call, const Check& check) const {
  return check.worker == Worker::native && spec(call).in_python ? Worker::python : check.worker;
}

bool Calls::needs(const Accelerator& accelerator, Worker kind) const {
  for (Position call = 0; call < size(); ++call) {
    if (device(call) == accelerator.type() && !simulated(call) &&
        std::ranges::any_of(checks(call), [&](const Check* check) {
          return check->needs_device && worker(call, *check) == kind;
        }))
      return !accelerator.missing();
  }
  return false;
}

std::set<const Check*> Calls::checks() const {
  std::set<const Check*> all;
  for (const CheckList& list : lists_) all.insert(list.begin(), list.end());
  return all;
}

std::map<Calls::Position, Calls::Position> Calls::simulated_twins() const {
  using About = std::tuple<const Sample*, uint32_t, c10::ScalarType>;
  const auto about = [&](const Call& call) {
    return About{samples_[call.sample].sample, call.variant, call.dtype};
  };
  std::map<About, Position> simulated;
  for (Position position = 0; position < size(); ++position) {
    if (calls_[position].simulated) simulated.emplace(about(calls_[position]), position);
  }
  std::map<Position, Position> twins;
  if (simulated.empty()) return twins;
  for (Position position = 0; position < size(); ++position) {
    const Call& call = calls_[position];
    if (call.simulated || call.device != kSimulatedType) continue;
    if (const auto twin = simulated.find(about(call)); twin != simulated.end())
      twins.emplace(position, twin->second);
  }
  return twins;
}

std::set<std::string> Calls::subjects() const {
  std::set<std::string> ids;
  for (const SampleOfSpec& about : samples_) ids.insert(about.spec->id);
  return ids;
}

std::string Calls::digest() const {
  Digest digest;
  for (const SampleOfSpec& about : samples_) digest.add(about.spec->id + '/' + about.sample->name + '\n');
  for (const std::string& variant : variants_) digest.add(variant + '\n');
  for (const CheckList& list : lists_) {
    for (const Check* check : list) digest.add(check->name + ' ');
    digest.add("\n");
  }
  for (const Call& call : calls_) {
    digest.add(fmt::format(FMT_COMPILE("{} {} {} {} {} {}\n"), call.sample, call.variant, call.checks,
                           static_cast<int>(call.dtype), static_cast<int>(call.device),
                           static_cast<int>(call.simulated)));
  }
  return digest.str();
}

void Calls::add(const CallKey& key, const CheckList& checks) {
  if (cases_ + checks.size() > std::numeric_limits<uint32_t>::max())
    throw SetupError("the plan has more than 2^32 cases; select fewer with --op, --check or --case");
  if (samples_.empty() || samples_.back().sample != key.sample) samples_.push_back({key.spec, key.sample});
  const auto [variant, new_variant] =
      variant_numbers_.try_emplace(key.variant, static_cast<uint32_t>(variants_.size()));
  if (new_variant) variants_.push_back(key.variant);
  const auto [list, new_list] = list_numbers_.try_emplace(checks, static_cast<uint32_t>(lists_.size()));
  if (new_list) lists_.push_back(checks);
  calls_.push_back({static_cast<uint32_t>(samples_.size() - 1), variant->second, list->second,
                    static_cast<uint32_t>(cases_), key.dtype, key.device, key.simulated});
  cases_ += checks.size();
}

}  // namespace opgate
