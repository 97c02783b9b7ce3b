// Samples made larger: what an operator does differently above some size shows in these alone.
#pragma once

#include <opgate/sample.h>

#include <cstdint>
#include <map>
#include <vector>

namespace opgate {

struct Spec;

/// Whether the tensors may have other sizes: their values depend on none. They do if values are offsets,
/// literals that a spec writes, or recorded numbers that may be indices or coordinates, and callers answer
/// for values that `spec` trusts.
bool takes_any_size(const Spec& spec, const Sample& sample);

/// Copies of `sample` in which sizes of tensors are multiplied by one factor, the largest for which the
/// tensors have at most `elements` elements together. In the first copy all sizes above 1 are multiplied, in
/// each other one a single size wherever it occurs. Other arguments stay, so an operator may refuse a copy.
/// Empty if the sample does not take any size, is as large already, or has no elements.
std::vector<Sample> larger_samples(const Spec& spec, const Sample& sample, int64_t elements);

/// Copies of `sample`, by one size of its tensors, which becomes `size` wherever it occurs, if that is
/// larger. Where the tensors have more than `elements` elements together then, their other sizes become 1;
/// where that does not help either, the copy is left out. Empty for the same reasons as above.
std::map<int64_t, Sample> samples_with_size(const Spec& spec, const Sample& sample, int64_t size,
                                            int64_t elements);

}  // namespace opgate
