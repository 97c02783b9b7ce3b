// The errors that a user can fix, with a text that is formatted.
#pragma once

#include <fmt/format.h>
#include <opgate/error.h>

#include <utility>

namespace opgate {

/// throw setup_error("there is no {}", file.string());
template <class... Values>
SetupError setup_error(fmt::format_string<Values...> text, Values&&... values) {
  return SetupError(fmt::format(text, std::forward<Values>(values)...));
}

template <class... Values>
SpecError spec_error(fmt::format_string<Values...> text, Values&&... values) {
  return SpecError(fmt::format(text, std::forward<Values>(values)...));
}

}  // namespace opgate
