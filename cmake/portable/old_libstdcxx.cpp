// Functions of libstdc++ that GCC 8's does not have, for libraries that exchange C++ objects with torch and
// so cannot have a libstdc++ of their own.
#include <locale.h>
#include <stdlib.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

// The characters that may be of a number: without white space and a plus sign before it, which strtod
// accepts, and with no hexadecimal digits after a leading "0x".
std::string candidate(const char* first, const char* last) {
  const char* at = first;
  if (at != last && *at == '-') ++at;
  if (at == last || std::strchr("0123456789.iInN", *at) == nullptr) return {};
  if (last - at >= 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) return {first, at + 1};
  return {first, last};
}

}  // namespace

// std::from_chars for double (GLIBCXX_3.4.29), independent of the locale. Knows the general format alone,
// which is the default.
std::from_chars_result opgate_from_chars(
    const char* first, const char* last, double& value,
    std::chars_format) __asm__("_ZSt10from_charsPKcS0_RdSt12chars_format")
    __attribute__((visibility("hidden")));
std::from_chars_result opgate_from_chars(const char* first, const char* last, double& value,
                                         std::chars_format) {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  const std::string text = candidate(first, last);
  const int before = errno;
  errno = 0;
  char* end = nullptr;
  const double read = strtod_l(text.c_str(), &end, plain);
  const bool is_outside = errno == ERANGE && (std::isinf(read) || read == 0);
  errno = before;
  const auto length = end - text.c_str();
  if (length == 0) return {first, std::errc::invalid_argument};
  if (is_outside) return {first + length, std::errc::result_out_of_range};
  value = read;
  return {first + length, std::errc()};
}

// std::runtime_error's constructor that moves (GLIBCXX_3.4.26). Copies share their text, so that a copy does
// the same.
void opgate_move(std::runtime_error* to, std::runtime_error&& from) __asm__("_ZNSt13runtime_errorC2EOS_")
    __attribute__((visibility("hidden")));
void opgate_move(std::runtime_error* to, std::runtime_error&& from) {
  new (to) std::runtime_error(static_cast<const std::runtime_error&>(from));
}

// std::stringbuf::str() const & and the constructor of std::istringstream that moves a text (GLIBCXX_3.4.29).
// Before C++20 there was one str(), without the &, and the text was copied.
std::string opgate_str_before(const std::stringbuf* buffer) __asm__(
    "_ZNKSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strEv");
std::string opgate_str(const std::stringbuf* buffer) __asm__(
    "_ZNKRSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strEv") __attribute__((visibility("hidden")));
std::string opgate_str(const std::stringbuf* buffer) { return opgate_str_before(buffer); }

void opgate_read(std::istringstream* to, std::string&& text, std::ios_base::openmode mode) __asm__(
    "_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC1EONS_12basic_stringIcS2_S3_EESt13_Ios_"
    "Openmode") __attribute__((visibility("hidden")));
void opgate_read(std::istringstream* to, std::string&& text, std::ios_base::openmode mode) {
  new (to) std::istringstream(static_cast<const std::string&>(text), mode);
}
