// The non-inline parts of the fmt that torch bundles, compiled once and linked into each program and
// library of this project. torch uses fmt header-only; done that way here, every file that formats text
// would take two seconds longer to compile.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE

template FMT_API auto locale_ref::get<std::locale>() const -> std::locale;  // for fmt/chrono.h

namespace detail {

template FMT_API auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;

namespace dragonbox {
template FMT_API auto to_decimal(float) noexcept -> decimal_fp<float>;
template FMT_API auto to_decimal(double) noexcept -> decimal_fp<double>;
}  // namespace dragonbox

}  // namespace detail
FMT_END_NAMESPACE
