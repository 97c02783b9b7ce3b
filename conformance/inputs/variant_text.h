// What the text of a variant says, also of one that was read from a file.
#pragma once

#include <string_view>

namespace opgate {

/// Whether the sample is called as it is: in contiguous tensors of the written sizes.
bool is_undamaged(std::string_view variant);

/// Whether the variant keeps the sizes and values, and lays arguments out otherwise.
bool is_rearranged(std::string_view variant);

/// "8" for the variant "size8=0", in which every size of 8 is 0; empty for other variants.
std::string_view sizes_without_elements(std::string_view variant);

/// The arguments and the layout of a rearranged variant: "xs" and "stepped" for "xs[0]=stepped", "all" and
/// "stepped" for "all=stepped".
struct Arrangement {
  std::string_view arguments, layout;
};
Arrangement arrangement_of(std::string_view variant);

}  // namespace opgate
