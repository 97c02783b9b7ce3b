// OPGATE_SIM_APPROXIMATE moves the results of approximate instructions, and never beyond what the manual of
// PTX allows.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "reference_floats.h"
#include "snippet.h"

namespace opgate::simulator::tests {
namespace {

class WhereResultsLie {
 public:
  explicit WhereResultsLie(const char* word) { setenv("OPGATE_SIM_APPROXIMATE", word, 1); }
  ~WhereResultsLie() { unsetenv("OPGATE_SIM_APPROXIMATE"); }
  WhereResultsLie(const WhereResultsLie&) = delete;
  WhereResultsLie& operator=(const WhereResultsLie&) = delete;
};

float result_of(const char* word, const std::string& instruction, const Sources& sources) {
  const WhereResultsLie scope(word);
  return as_float(evaluate_one(instruction, sources));
}

struct Case {
  const char* opcode;
  double (*function)(double);
  double (*allowed)(double value, double result);
};

double bits_22(double, double result) { return std::fabs(result) * 0x1p-22; }
double bits_23(double, double result) { return std::fabs(result) * 0x1p-23; }
double of_sine(double value, double) {
  return std::fabs(value) <= 6.28 ? std::exp2(-20.5) : std::exp2(-14.7);
}

const Case kCases[] = {
    {"rcp.approx.f32", [](double x) { return 1 / x; }, &bits_23},
    {"sqrt.approx.f32", [](double x) { return std::sqrt(x); }, &bits_23},
    {"rsqrt.approx.ftz.f32", [](double x) { return 1 / std::sqrt(x); },
     [](double, double result) { return std::fabs(result) * std::exp2(-22.9); }},
    {"ex2.approx.f32", [](double x) { return std::exp2(x); }, &bits_22},
    {"lg2.approx.f32", [](double x) { return std::log2(x); },
     [](double value, double result) {
       return value > 0.5 && value < 2 ? 0x1p-22 : std::fabs(result) * 0x1p-22;
     }},
    {"tanh.approx.f32", [](double x) { return std::tanh(x); },
     [](double, double result) { return std::fabs(result) * 0x1p-11; }},
};

TEST(SimulatedApproximations, StayInsideTheErrorsThatAreDocumented) {
  for (const Case& each : kCases) {
    bool moved = false;
    for (const float value : {0.001f, 0.3f, 0.75f, 1.0f, 1.7f, 2.0f, 7.7f, 20.0f}) {
      const std::string text = std::string(each.opcode) + " %f0, %f1;";
      const double exact = each.function(value);
      const double allowed = each.allowed(value, exact);
      const float low = result_of("low", text, {bits_of(value)});
      const float high = result_of("high", text, {bits_of(value)});
      EXPECT_LE(std::fabs(low - exact), allowed) << each.opcode << " " << value;
      EXPECT_LE(std::fabs(high - exact), allowed) << each.opcode << " " << value;
      EXPECT_LE(low, high) << each.opcode << " " << value;
      moved = moved || low < high;
    }
    EXPECT_TRUE(moved) << each.opcode;
  }
}

TEST(SimulatedApproximations, OfSineHaveTwoRanges) {
  for (const float value : {0.5f, -3.0f, 6.0f, 30.0f, -300.0f}) {
    // The phase of a large argument is lost already where the results are not moved.
    const double middle = result_of("exact", "sin.approx.f32 %f0, %f1;", {bits_of(value)});
    const double low = result_of("low", "sin.approx.f32 %f0, %f1;", {bits_of(value)});
    const double high = result_of("high", "sin.approx.f32 %f0, %f1;", {bits_of(value)});
    EXPECT_GT(high - low, of_sine(value, 0)) << value;
    EXPECT_LE(middle - low, of_sine(value, 0)) << value;
    EXPECT_LE(high - middle, of_sine(value, 0)) << value;
  }
}

TEST(SimulatedApproximations, OfDivisionAreOneUnitAway) {
  for (const char* const opcode : {"div.approx.f32", "div.full.f32", "div.approx.ftz.f32"}) {
    const std::string text = std::string(opcode) + " %f0, %f1, %f2;";
    const Sources ten_thirds{bits_of(10.0f), bits_of(3.0f)};
    const float exact = 10.0f / 3.0f;
    EXPECT_EQ(result_of("exact", text, ten_thirds), exact) << opcode;
    EXPECT_EQ(result_of("low", text, ten_thirds), std::nextafter(exact, 0.0f)) << opcode;
    EXPECT_EQ(result_of("high", text, ten_thirds), std::nextafter(exact, 10.0f)) << opcode;
  }
  EXPECT_EQ(result_of("high", "div.rn.f32 %f0, %f1, %f2;", {bits_of(10.0f), bits_of(3.0f)}), 10.0f / 3.0f);
}

TEST(SimulatedApproximations, LeaveWhatIsExact) {
  for (const char* const word : {"low", "high"}) {
    EXPECT_EQ(result_of(word, "rcp.approx.f32 %f0, %f1;", {bits_of(HUGE_VALF)}), 0.0f);
    EXPECT_EQ(result_of(word, "rsqrt.approx.f32 %f0, %f1;", {bits_of(0.0f)}), HUGE_VALF);
    EXPECT_EQ(result_of(word, "ex2.approx.f32 %f0, %f1;", {bits_of(-HUGE_VALF)}), 0.0f);
    EXPECT_TRUE(std::isnan(result_of(word, "sqrt.approx.f32 %f0, %f1;", {bits_of(-1.0f)})));
    EXPECT_EQ(result_of(word, "sqrt.rn.f32 %f0, %f1;", {bits_of(2.0f)}), std::sqrt(2.0f));
  }
}

TEST(SimulatedApproximations, AreRefusedForAnotherWord) {
  try {
    result_of("higher", "rcp.approx.f32 %f0, %f1;", {bits_of(3.0f)});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("OPGATE_SIM_APPROXIMATE=higher: give exact, low or high"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace opgate::simulator::tests
