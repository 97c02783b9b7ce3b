#include "cli/results/remarks_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgate {

size_t count_of(const Remarks& remarks, Remark::Kind kind) {
  return static_cast<size_t>(std::ranges::count(remarks, kind, &Remark::kind));
}

std::string in_lines(const Remarks& remarks, Remark::Kind kind) {
  size_t width = 0;
  for (const Remark& remark : remarks) width = std::max(width, remark.op.size());
  std::string text;
  for (const Remark& remark : remarks) {
    if (remark.kind != kind) continue;
    text += fmt::format("  {:<{}}  {}\n", remark.op, width, remark.what);
    if (!remark.shown.empty()) text += fmt::format("  {:<{}}    {}\n", "", width, remark.shown);
  }
  return text;
}

}  // namespace opgate
