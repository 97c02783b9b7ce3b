// value.batch: a row's result does not depend on the other rows, nor on how many there are.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "spec/spec.h"

namespace opgate::value_batch {
namespace {

// Batch sizes around the sizes of warps, tiles and loop unrollings.
constexpr std::array<int64_t, 9> kBatches{1, 31, 32, 33, 63, 64, 65, 127, 128};
constexpr int64_t kFewer = kBatches.back();
constexpr int64_t kWhole = 129;
constexpr int64_t kKeptRow = 64;

class Batches {
 public:
  explicit Batches(CallUnderTest& under_test)
      : under_test_(under_test),
        placed_(arrange_contiguous(under_test.key())),
        batch_(placed_.front().geometry.sizes.at(0)) {}

  // Calls the operator on the first `rows` rows of a batch of kWhole. Where `others` is not 0, it seeds
  // other values for all rows but kKeptRow.
  Outcome call(int64_t rows, uint64_t others = 0) {
    const CallKey& key = under_test_.key();
    Arguments arguments =
        materialize(key, under_test_.cache().values, {.contiguous = true, .take_snapshots = false});
    for (size_t i = 0; i < placed_.size(); ++i) {
      if (!is_batched(i)) continue;
      at::Tensor whole = rows_of(i, 0);
      if (others != 0) {
        const at::Tensor kept = whole.select(0, kKeptRow).clone();
        whole = rows_of(i, others).clone();
        whole.select(0, kKeptRow).copy_(kept);
      }
      arguments.replace(arguments.tensors[i], whole.narrow(0, 0, rows).clone().to(key.device));
    }
    return call_on(key, arguments.stack);
  }

  // The number of rows in the sample itself.
  int64_t own_size() const { return batch_; }

  bool is_batched(size_t i) const {
    const std::vector<int64_t>& sizes = placed_[i].geometry.sizes;
    return !sizes.empty() && sizes.front() == batch_;
  }

 private:
  at::Tensor rows_of(size_t i, uint64_t value_seed) {
    std::vector<int64_t> sizes = placed_[i].geometry.sizes;
    sizes.front() = kWhole;
    return under_test_.cache().values.values(under_test_.key(), placed_[i].slot, sizes, value_seed);
  }

  CallUnderTest& under_test_;
  std::vector<TensorPlacement> placed_;
  int64_t batch_;
};

bool has_rows(const at::Tensor& tensor, int64_t rows) {
  return tensor.defined() && tensor.dim() > 0 && tensor.size(0) == rows;
}

// The positions of the results that have a row for each row of the batch: in the largest batch, and in
// another one.
std::vector<size_t> batched_results(const Spec& spec, const Outcome& whole, const Outcome& fewer,
                                    const Outcome& own, int64_t own_rows) {
  const std::set<size_t> unspecified = whole.tensors_of(spec.unspecified);
  const std::vector<at::Tensor> all = whole.values(), few = fewer.values(), own_values = own.values();
  std::vector<size_t> batched;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool in_another = (i < few.size() && has_rows(few[i], kFewer)) ||
                            (i < own_values.size() && has_rows(own_values[i], own_rows));
    if (!unspecified.contains(i) && has_rows(all[i], kWhole) && in_another) batched.push_back(i);
  }
  return batched;
}

// Rows [first, first + count) of these results; a result without `rows` rows as it is.
std::vector<at::Tensor> rows_in(const Outcome& outcome, const std::vector<size_t>& batched, int64_t rows,
                                int64_t first, int64_t count) {
  const std::vector<at::Tensor> values = outcome.values();
  std::vector<at::Tensor> all;
  for (const size_t i : batched) {
    if (i >= values.size()) continue;
    all.push_back(has_rows(values[i], rows) ? values[i].narrow(0, first, count) : values[i]);
  }
  return all;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const CallKey& key = under_test.key();
  const auto broken_spec = [&](const std::string& why) {
    return Judgement::invalid(fmt::format("{}: batch_invariant is promised, but {}", key.sample->where, why));
  };
  if (key.sample->tensor_count() == 0 ||
      tensor_slots(*key.spec, *key.sample).front().described->shape.empty())
    return broken_spec("the sample's first tensor has no dim 0 to be the batch");
  const std::string promised =
      "a row's result has the same bits whatever the other rows, and however many there are";
  Batches batches(under_test);
  const Outcome whole = batches.call(kWhole);
  if (!whole.ok())
    return broken_spec(
        fmt::format("a batch of {} along dim 0 is refused: {}", kWhole, whole.raised->message));
  const Outcome fewer = batches.call(kFewer);
  if (!fewer.ok())
    return Judgement::fail(
        {promised, fmt::format("a batch of {} raised: {}", kFewer, fewer.raised->message)});
  const std::vector<size_t> batched =
      batched_results(*key.spec, whole, fewer, under_test.observed().outcome, batches.own_size());
  if (batched.empty()) return broken_spec("no result has a row for each row of the batch");
  const auto differing = [&](const Outcome& got, int64_t rows, int64_t first, int64_t count,
                             const std::string& when) {
    if (!got.ok())
      return Judgement::fail({promised, fmt::format("{} raised: {}", when, got.raised->message)});
    Judgement judgement = judge_values(rows_in(got, batched, rows, first, count),
                                       rows_in(whole, batched, kWhole, first, count), {}, promised);
    if (judgement.finding)
      judgement.finding->happened = fmt::format("{}: {}", when, judgement.finding->happened);
    return judgement;
  };
  for (const int64_t rows : kBatches) {
    Judgement judgement = differing(batches.call(rows), rows, 0, rows,
                                    fmt::format("a batch of {} against one of {}", rows, kWhole));
    if (!judgement.finding) continue;
    judgement.finding->likely =
        "the operator takes another code path, tile or order of additions for this batch size, or the batch "
        "exceeds a limit";
    return judgement;
  }
  Judgement judgement = differing(batches.call(kWhole, kOtherValues), kWhole, kKeptRow, 1,
                                  fmt::format("row {} with other rows around it", kKeptRow));
  if (judgement.finding)
    judgement.finding->likely = "a row reads, or shares an accumulator with, its neighbours";
  return judgement;
}

OPGATE_REGISTER_CHECK(value_batch, {.name = "value.batch",
                                    .scope = {.variants = Scope::Variants::contiguous,
                                              .promised = Promise::batch_invariant},
                                    .judge = &judge});

}  // namespace
}  // namespace opgate::value_batch
