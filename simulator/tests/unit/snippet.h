// Single instructions, executed for many operands.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "edges.h"
#include "fake_device.h"

namespace opgate::simulator::tests {

/// The sources of one execution: %r1 to %r3, %rd1 to %rd3, %f1 and so on hold the low bits of these.
using Sources = std::array<std::uint64_t, 3>;

/// Executes the text, which writes %r0, %rd0, %f0, %fd0, %h0 or %p0: the first of these that it names is the
/// result.
inline std::vector<std::uint64_t> evaluate(const std::string& text, const std::vector<Sources>& sources) {
  std::string result;
  std::size_t first = std::string::npos;
  for (const char* const name : {"%r0", "%rd0", "%f0", "%fd0", "%h0", "%p0"}) {
    const std::size_t at = text.find(name);
    if (at < first) {
      first = at;
      result = name;
    }
  }
  const bool predicate = result == "%p0";
  const std::string type = predicate || result == "%r0" || result == "%f0" ? "b32"
                           : result == "%h0"                               ? "b16"
                                                                           : "b64";
  std::string body =
      "ld.param.u64 %rd10, [in]; ld.param.u64 %rd11, [out];\nmov.u32 %r10, %tid.x; mov.u32 %r11, %ctaid.x;\n"
      "mad.lo.u32 %r10, %r11, 64, %r10;\nmul.wide.u32 %rd12, %r10, 24; add.u64 %rd10, %rd10, %rd12;\n"
      "mul.wide.u32 %rd12, %r10, 8; add.u64 %rd11, %rd11, %rd12;\n";
  for (int i = 1; i <= 3; ++i) {
    const std::string n = std::to_string(i);
    body += "ld.global.b64 %rd" + n + ", [%rd10+" + std::to_string(8 * (i - 1)) + "];\nmov.b64 %fd" + n +
            ", %rd" + n + ";\nld.global.b32 %r" + n + ", [%rd10+" + std::to_string(8 * (i - 1)) +
            "];\nmov.b32 %f" + n + ", %r" + n + ";\nld.global.b16 %h" + n + ", [%rd10+" +
            std::to_string(8 * (i - 1)) + "];\nsetp.ne.b32 %p" + n + ", %r" + n + ", 0;\n";
  }
  body += text + "\n";
  if (predicate) body += "selp.b32 %r0, 1, 0, %p0;\n";
  body += "st.global." + type + " [%rd11], " + (predicate ? "%r0" : result) + ";\n";
  const std::string ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) "
      "{\n.reg .pred %p<20>; "
      ".reg .b16 %h<20>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<20>; .reg .f64 %fd<20>;\n" +
      body + "ret;\n}\n";
  FakeDevice device;
  std::vector<Sources> padded = sources;
  padded.resize((sources.size() + 63) / 64 * 64);
  const std::uint64_t in = device.allocate(padded);
  const std::uint64_t out = device.allocate(std::vector<std::uint64_t>(padded.size()));
  const Outcome outcome =
      run(device, ptx, {static_cast<unsigned>(padded.size() / 64)}, {64}, Arguments(in, out));
  EXPECT_EQ(static_cast<int>(outcome.fault), 0) << text << ": " << outcome.message;
  std::vector<std::uint64_t> results = device.read<std::uint64_t>(out);
  results.resize(sources.size());
  return results;
}

/// One source of one execution.
inline std::uint64_t evaluate_one(const std::string& text, const Sources& sources) {
  return evaluate(text, {sources}).front();
}

/// All combinations of these values for the first `count` sources.
inline std::vector<Sources> combinations(const std::vector<std::uint64_t>& values, int count) {
  std::vector<Sources> all;
  for (const std::uint64_t a : values) {
    if (count == 1) {
      all.push_back({a, 0, 0});
      continue;
    }
    for (const std::uint64_t b : values) {
      if (count == 2) {
        all.push_back({a, b, 0});
        continue;
      }
      for (const std::uint64_t c : values) all.push_back({a, b, c});
    }
  }
  return all;
}

using Expected = std::function<std::uint64_t(std::uint64_t a, std::uint64_t b, std::uint64_t c)>;

struct Row {
  const char* text;
  Expected expected;
};

/// Compares an instruction with a function of its sources, of which the low `bits` bits of the result count.
inline void check(const Row& row, const std::vector<Sources>& sources, int bits) {
  const std::vector<std::uint64_t> results = evaluate(row.text, sources);
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  int reported = 0;
  for (std::size_t i = 0; i < sources.size() && reported < 5; ++i) {
    const Sources& s = sources[i];
    const std::uint64_t expected = row.expected(s[0], s[1], s[2]) & mask;
    if ((results[i] & mask) == expected) continue;
    ++reported;
    ADD_FAILURE() << std::hex << row.text << " of " << s[0] << ", " << s[1] << ", " << s[2] << " gave "
                  << (results[i] & mask) << " instead of " << expected;
  }
}

}  // namespace opgate::simulator::tests
