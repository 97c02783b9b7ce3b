#include "runtime/findings/stream_watch.h"

#include <algorithm>
#include <iterator>

#include "runtime/findings/tool_findings.h"
#include "watch/findings.h"

namespace opgate::simulator {
namespace stream_watch {

void join(StreamClock& into, const StreamClock& from) {
  for (const auto& [stream, position] : from) into[stream] = std::max(into[stream], position);
}

void join(StreamClock& into, const Mark& mark) {
  if (mark.stream == nullptr) return;
  into[mark.stream->id] = std::max(into[mark.stream->id], mark.position);
  if (mark.known != nullptr) join(into, *mark.known);
}

std::string name_of(const StreamAccess& access) {
  return access.operation +
         (access.stream == 0 ? " by the host" : " in stream " + std::to_string(access.stream));
}

FindingPlace place_of(const StreamAccess& access) {
  return {.instruction = access.operation, .location = access.location, .stream = access.stream};
}

}  // namespace stream_watch

StreamWatch::Known StreamWatch::issue(Stream& stream, const std::vector<Mark>& after) {
  auto known = std::make_shared<StreamClock>(host_);
  if (stream.known != nullptr) stream_watch::join(*known, *stream.known);
  for (const Mark& mark : after) stream_watch::join(*known, mark);
  stream.known = known;
  return known;
}

void StreamWatch::host_waits_for(const Mark& mark) { stream_watch::join(host_, mark); }

StreamWatch::Known StreamWatch::known_to_host(const std::vector<Mark>& after) const {
  auto known = std::make_shared<StreamClock>(host_);
  for (const Mark& mark : after) stream_watch::join(*known, mark);
  return known;
}

StreamWatch::Running::Running(std::shared_ptr<StreamWatch> watch, const Stream& stream,
                              std::uint64_t position, Known known)
    : watch_(std::move(watch)), stream_(stream.id), position_(position), known_(std::move(known)) {
  if (watch_ != nullptr) former_ = std::exchange(watch_->running_, this);
}

StreamWatch::Running::~Running() {
  if (watch_ != nullptr) watch_->running_ = former_;
}

void StreamWatch::reads(const std::string& operation, std::uint64_t begin, std::size_t bytes) {
  access({.operation = operation}, begin, bytes);
}

void StreamWatch::writes(const std::string& operation, std::uint64_t begin, std::size_t bytes) {
  access({.operation = operation, .writes = true}, begin, bytes);
}

void StreamWatch::accesses(const std::string& kernel, const std::vector<AccessedRange>& ranges) {
  for (const AccessedRange& range : ranges)
    access({.operation = "kernel " + kernel + " (" + range.instruction + ")",
            .kernel = kernel,
            .location = range.location,
            .writes = range.is_written,
            .is_strong = range.is_strong},
           range.begin, range.bytes);
}

// What was issued before the tool began to watch is not looked at.
void StreamWatch::access(StreamAccess access, std::uint64_t begin, std::size_t bytes) {
  if (running_ == nullptr || running_->known_ == nullptr) return;
  access.stream = running_->stream_;
  access.position = running_->position_;
  Allocation* const allocation = allocation_at(begin);
  if (allocation != nullptr) allocation->users.insert(access.stream);
  look_at(access, *running_->known_, begin, bytes);
}

StreamWatch::Allocation* StreamWatch::allocation_at(std::uint64_t address) {
  const auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return nullptr;
  const auto found = std::prev(next);
  return address - found->first < found->second.bytes ? &found->second : nullptr;
}

void StreamWatch::begins(std::uint64_t begin, std::size_t bytes) {
  shadow_.forget(begin, bytes);
  allocations_[begin] = {bytes, {}, {}};
}

void StreamWatch::ends(std::uint64_t begin, std::size_t bytes) {
  shadow_.forget(begin, bytes);
  allocations_.erase(begin);
}

void StreamWatch::will_wait(std::uint64_t address, const Stream& stream) {
  Allocation* const allocation = allocation_at(address);
  if (allocation != nullptr) allocation->awaited.insert(stream.id);
}

void StreamWatch::frees(const Known& known, std::uint64_t begin, std::size_t bytes) {
  const Allocation* const allocation = allocation_at(begin);
  if (allocation != nullptr && allocation->users.size() > 1) {
    StreamClock all = *known;
    for (const unsigned long long stream : allocation->awaited) all[stream] = ~std::uint64_t{0};
    look_at({.operation = "cudaFree", .writes = true}, all, begin, bytes);
  }
  ends(begin, bytes);
}

void StreamWatch::context_ends() {
  shadow_ = {};
  for (auto& [begin, allocation] : allocations_) allocation.users.clear();
}

void StreamWatch::look_at(const StreamAccess& access, const StreamClock& known, std::uint64_t begin,
                          std::size_t bytes) {
  shadow_.access(access, known, begin, bytes,
                 [&](const StreamAccess& before, std::uint64_t address, std::size_t of_both) {
                   report(access, before, address, of_both);
                 });
}

void StreamWatch::report(const StreamAccess& access, const StreamAccess& before, std::uint64_t address,
                         std::size_t bytes) {
  const std::string name = stream_watch::name_of(access);
  const std::string other = stream_watch::name_of(before);
  if (reported_.size() >= Findings::kMost || !reported_.emplace(name, other).second) return;
  Finding finding;
  finding.kind = Finding::Kind::stream;
  finding.kernel = access.kernel;
  finding.message = name + " and " + other + " use the same " + std::to_string(bytes) +
                    (bytes == 1 ? " byte" : " bytes") +
                    ", at least one of them writes, allocates or frees them, and nothing orders the two: no "
                    "event, no default stream, and no wait of the host";
  finding.place = stream_watch::place_of(access);
  finding.other = stream_watch::place_of(before);
  finding.space = "global";
  finding.address = address;
  finding.bytes = bytes;
  tool_findings::keep({std::move(finding)});
}

}  // namespace opgate::simulator
