// What asynchronous operations mean to the tool `race`, and the objects of `mbarrier` by which threads wait
// for them.
#include <utility>

#include "machine/block.h"
#include "watch/race/race_of_block.h"

namespace opgate::simulator {
namespace asynchronous_races {

constexpr const char* kHintOfCopy =
    "; a copy may happen at any time between its begin and the end of a wait for it";
constexpr const char* kHintOfProduct =
    "; a product may read its matrices at any time between its begin and the end of a wait for it";

}  // namespace asynchronous_races

void RaceOfBlock::begin_async(const AsyncOperation& operation) {
  begun_[operation.number] = races_.clocks.snapshot(operation.thread->linear);
}

void RaceOfBlock::read_of_copy(const WatchedCopy& copy, std::uint32_t /*offset*/,
                               const WatchedAccess& access) {
  this->access(*copy.thread, tool_.launch().instruction_at(copy.site), access, *this);
  look_for_proxy_fence(*copy.thread, access);
}

void RaceOfBlock::read_of_product(const WatchedProduct& product, const WatchedAccess& access) {
  this->access(*product.thread, tool_.launch().instruction_at(product.site), access, *this);
  if (!product.has_begun) {
    look_for_proxy_fence(*product.thread, access);
    return;
  }
  detector_.finish_reading(races_, access, *begun_.at(product.number), [&](const RaceDetector::Race& race) {
    tool_.report(*product.thread, access, race, asynchronous_races::kHintOfProduct);
  });
}

void RaceOfBlock::complete_by_wait(const Thread& thread) { completion_ = races_.clocks.clock(thread.linear); }

void RaceOfBlock::complete_by_promise(const WatchedPromise& /*promise*/) {
  completion_ = races_.clocks.tick();
}

void RaceOfBlock::finish_reading(const WatchedCopy& copy, const WatchedAccess& access) {
  detector_.finish_reading(races_, access, *begun_.at(copy.number), [&](const RaceDetector::Race& race) {
    tool_.report(*copy.thread, access, race, asynchronous_races::kHintOfCopy);
  });
}

void RaceOfBlock::finish_writing(const WatchedCopy& copy, std::uint32_t /*offset*/,
                                 const WatchedAccess& access) {
  detector_.finish_copy(races_, access, *begun_.at(copy.number), completion_,
                        [&](const RaceDetector::Race& race) {
                          tool_.report(*copy.thread, access, race, asynchronous_races::kHintOfCopy);
                        });
}

// A thread that finds the phase complete knows the copies, and what came before them.
void RaceOfBlock::keep(const WatchedPromise& promise) {
  auto release = std::make_shared<Release>(*begun_.at(promise.copy.number));
  release->view.own = completion_ + 1;
  mbarriers_[promise.place].arrived.push_back(std::move(release));
}

// A thread that sees a phase complete is ordered after every arrival in that phase.
void RaceOfBlock::use_mbarrier(const Thread& thread, const Annotation& how, std::uint64_t place) {
  using Kind = Annotation::Kind;
  const bool looks = how.kind == Kind::mbarrier_look;
  Annotation of_object = how;
  of_object.kind = looks ? Kind::load : Kind::atomic;
  const WatchedAccess access{&of_object, Space::shared, place, thread.linear};
  detector_.look_at(races_, races_, access,
                    [&](const RaceDetector::Race& race) { tool_.report(thread, access, race); });
  Phases& phases = mbarriers_[place];
  if (how.releases) phases.arrived.push_back(races_.clocks.snapshot(thread.linear));
  const bool sees_phase = how.kind != Kind::promise && !(looks && thread.state == Thread::State::yields);
  if (sees_phase && how.acquires && phases.complete != nullptr)
    races_.clocks.learn(thread.linear, *phases.complete);
}

void RaceOfBlock::complete_phase(std::uint64_t place) {
  Phases& phases = mbarriers_[place];
  phases.complete = races_.clocks.joined(phases.arrived);
  phases.arrived.clear();
}

// Writes that nothing orders before the read are races of their own.
void RaceOfBlock::look_for_proxy_fence(const Thread& thread, const WatchedAccess& access) {
  if (access.space != Space::shared) return;
  const WatchedLaunch& launch = tool_.launch();
  detector_.for_each_write(races_, access, [&](const AccessRecord& write) {
    const BlockClocks& clocks = races_.clocks;
    if (write.block != clocks.block()) return;
    const Annotation* const how = launch.instruction_at(write.site()).annotation;
    using Kind = Annotation::Kind;
    if (how == nullptr || how->kind == Kind::bulk_load || how->kind == Kind::tensor_load) return;
    if (write.thread() != thread.linear && !clocks.knows(thread.linear, write)) return;
    if (proxy_fences_.order(clocks, write, thread.linear)) return;
    if (!launch.is_new(Finding::Kind::race, access.annotation->site, write.site())) return;
    Finding finding;
    finding.kind = Finding::Kind::race;
    finding.other = tool_.in_flight().place_of(write);
    finding.place = launch.place_of(thread, access.annotation->site);
    finding.message = finding.place.instruction + " reads by the async proxy what " +
                      finding.other->instruction + " of thread " + in_words(finding.other->thread) +
                      " has written, and no fence.proxy.async makes it visible there";
    finding.address = access.address;
    finding.bytes = access.annotation->bytes;
    finding.space = "shared";
    launch.add(std::move(finding));
  });
}

}  // namespace opgate::simulator
