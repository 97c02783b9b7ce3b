// The words of reports.
#include "runtime/findings/report.h"

#include <gtest/gtest.h>

#include <string>

using opgate::simulator::readable_name;

TEST(ReadableName, IsAsPeopleWriteIt) {
  EXPECT_EQ(readable_name("_Z5twicePfj"), "twice(float*, unsigned int)");
  EXPECT_EQ(readable_name("twice"), "twice");
}

TEST(ReadableName, OfManyParametersLeavesThemOut) {
  // template <class T> void scale(void (*)(T, T), T, ...), with 40 more integers.
  const std::string mangled = "_Z5scaleIfEvPFvT_S0_ES0_" + std::string(40, 'i');
  EXPECT_EQ(readable_name(mangled), "scale<float>");
}

TEST(ReadableName, KeepsTheArgumentsOfATemplate) {
  // The same, for T = int (char).
  const std::string mangled = "_Z5scaleIFicEEvPFvT_S1_ES1_" + std::string(40, 'i');
  EXPECT_EQ(readable_name(mangled), "scale<int (char)>");
}
