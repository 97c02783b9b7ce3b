// value.overlap: an argument that is written may share memory with another one, or the call raises.
#include <ATen/ops/cat.h>
#include <fmt/format.h>

#include <algorithm>

#include "inputs/tensor_slots.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "spec/spec.h"

namespace opgate::value_overlap {
namespace {

// Arguments in whose place tensors in one storage are given.
struct Overlap {
  std::string words;  // "`y` is `x` itself"
  std::string about;  // the argument that is written
  /// The tensors by position in Arguments::tensors. Their values are the sample's, as far as they fit.
  std::vector<std::pair<size_t, at::Tensor>> tensors;
};

// The overlaps of one set of arguments. Each call gets new tensors, because the last one has written into its
// own.
class Overlaps {
 public:
  explicit Overlaps(CallUnderTest& under_test)
      : under_test_(under_test), slots_(tensor_slots(*key().spec, *key().sample)) {}

  std::vector<Overlap> all() {
    const Arguments arguments = under_test_.observed().arguments;
    const size_t count = std::min(slots_.size(), arguments.tensors.size());
    std::vector<Overlap> overlaps;
    for (size_t w = 0; w < count; ++w) {
      const TensorInput& written = arguments.tensors[w];
      if (!is_mutable(*key().spec, written.position) || may_change_metadata(*key().spec, written)) continue;
      const at::Tensor values = sample_values(w);
      if (values.numel() < 2) continue;
      for (size_t r = 0; r < count; ++r) {
        if (r != w && can_share(arguments, w, r)) append_pairs(values, w, r, overlaps);
      }
      append_self(values, w, overlaps);
    }
    return overlaps;
  }

 private:
  const CallKey& key() const { return under_test_.key(); }

  // The call has written into the observed arguments.
  at::Tensor sample_values(size_t position) {
    return materialize(key(), under_test_.cache().values, {.contiguous = true, .take_snapshots = false})
        .tensors[position]
        .tensor;
  }

  // Values of the one must be valid as values of the other.
  bool can_share(const Arguments& arguments, size_t w, size_t r) const {
    const TensorInput& written = arguments.tensors[w];
    const TensorInput& read = arguments.tensors[r];
    return !is_mutable(*key().spec, read.position) &&
           written.tensor.scalar_type() == read.tensor.scalar_type() && read.tensor.numel() > 0 &&
           read.tensor.numel() <= written.tensor.numel() &&
           slots_[w].described->domain == slots_[r].described->domain;
  }

  void append_pairs(const at::Tensor& values, size_t w, size_t r, std::vector<Overlap>& overlaps) const {
    const std::string& written = slots_[w].name;
    const std::string& read = slots_[r].name;
    const auto sizes = at::IntArrayRef(slots_[r].described->shape);
    const int64_t count = c10::multiply_integers(sizes);
    const auto part = [&](const at::Tensor& of, int64_t offset) {
      return of.flatten().narrow(0, offset, count).view(sizes);
    };
    const bool is_whole = sizes == values.sizes();
    overlaps.push_back({is_whole ? fmt::format("`{}` is `{}` itself", read, written)
                                 : fmt::format("`{}` is the first part of `{}`", read, written),
                        written,
                        {{w, values}, {r, is_whole ? values : part(values, 0)}}});
    if (!is_whole) return;
    // One element more than either needs: the one begins where the second element of the other lies.
    const at::Tensor longer = at::cat({values.flatten(), values.flatten().narrow(0, 0, 1)});
    const at::Tensor first = part(longer, 0), second = part(longer, 1);
    overlaps.push_back({fmt::format("`{}` lies one element behind `{}` in one storage", written, read),
                        written,
                        {{w, second}, {r, first}}});
    overlaps.push_back({fmt::format("`{}` lies one element before `{}` in one storage", written, read),
                        written,
                        {{w, first}, {r, second}}});
  }

  void append_self(const at::Tensor& values, size_t w, std::vector<Overlap>& overlaps) const {
    for (int64_t dim = 0; dim < values.dim(); ++dim) {
      if (values.size(dim) < 2) continue;
      const at::Tensor slice = values.narrow(dim, 0, 1).clone();
      overlaps.push_back({fmt::format("`{}` is expanded, with stride 0 along dim {}", slots_[w].name, dim),
                          slots_[w].name,
                          {{w, slice.expand(values.sizes())}}});
      return;  // one dim is enough
    }
  }

  CallUnderTest& under_test_;
  std::vector<TensorSlot> slots_;
};

Outcome call_with(CallUnderTest& under_test, const Overlap& overlap, bool copies) {
  Arguments arguments = materialize(under_test.key(), under_test.cache().values, {.take_snapshots = false});
  for (const auto& [position, tensor] : overlap.tensors) {
    arguments.replace(arguments.tensors[position],
                      copies ? tensor.clone(at::MemoryFormat::Contiguous) : tensor);
  }
  return call_on(under_test.key(), std::move(arguments.stack));
}

Judgement judge_overlap(CallUnderTest& under_test, const Overlap& overlap) {
  const Spec& spec = *under_test.key().spec;
  const bool must_raise = spec.promised(Promise::refuses_overlap);
  const std::string promised =
      must_raise
          ? fmt::format("the call raises where {}", overlap.words)
          : fmt::format("where {}, the results are those of copies, or the call raises", overlap.words);
  const Outcome copies = call_with(under_test, overlap, true);
  if (!copies.ok()) return Judgement::pass();  // these values are not valid together
  const Outcome shared = call_with(under_test, overlap, false);
  if (!shared.ok()) return Judgement::pass();
  const Fault fault{"overlap", overlap.about};
  if (must_raise)
    return Judgement::fail(
        {promised, "it was accepted", "call at::assert_no_overlap, at::assert_no_internal_overlap", fault});
  Judgement judgement = judge_near_each_other(under_test.key(), shared, copies, promised);
  if (!judgement.finding) return judgement;
  judgement.finding->fault = fault;
  judgement.finding->likely =
      "elements are written before all that is computed from them has been read; refuse the call with "
      "at::assert_no_overlap and at::assert_no_internal_overlap, compute into a new tensor first, or say "
      "spec.unspecified_for(\"overlap\") where callers answer for it";
  return judgement;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const Spec& spec = *under_test.key().spec;
  if (under_test.observed().drew_random_numbers && !spec.promised(Promise::nondeterministic_seeded))
    return Judgement::pass();  // no two calls can be compared
  for (const Overlap& overlap : Overlaps(under_test).all()) {
    Judgement judgement = judge_overlap(under_test, overlap);
    if (!judgement.finding) continue;
    // A draft promises nothing about overlaps, and callers may never make them.
    return spec.draft ? Judgement::note(*std::move(judgement.finding)) : judgement;
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(value_overlap, {.name = "value.overlap",
                                      .scope = {.variants = Scope::Variants::contiguous,
                                                .dtypes = Scope::Dtypes::first,
                                                .unless_unspecified_for = kOverlap,
                                                .writes = true},
                                      .judge = &judge});

}  // namespace
}  // namespace opgate::value_overlap
