// Variables with values that they cannot have: the process ends when the first CUDA function is called, and
// says what they may be.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <opgate_sim.h>

namespace opgate::simulator::settings_test {
namespace {

struct Wrong {
  const char* variable;
  const char* value;
  const char* wanted;
};

const std::vector<Wrong> kWrong = {
    {"OPGATE_SIM_DEVICES", "0", "give a number from 1 to 8"},
    {"OPGATE_SIM_DEVICES", "two", "give a number from 1 to 8"},
    {"OPGATE_SIM_DEVICES", "-1", "give a number from 1 to 8"},
    {"OPGATE_SIM_ARCH", "91", "give one of 75, 80, 86, 89, 90, 100, 120"},
    {"OPGATE_SIM_MEMORY", "0", "give a number from 1 to 1048576"},
    {"OPGATE_SIM_EAGER", "yes", "give a number from 0 to 1"},
    {"OPGATE_SIM_FILL", "256", "give a number from 0 to 255"},
    {"OPGATE_SIM_INSTRUCTIONS", "1e9", "give a number from 0 to 18446744073709551615"},
    {"OPGATE_SIM_SHUFFLE", "99999999999999999999", "give a number from 0 to 18446744073709551615"},
    {"OPGATE_SIM_SCHEDULE", "launch 1: warps 1 of block 0",
     "warps have an order only if a tool watches kernels"},
    {"OPGATE_SIM_SCHEDULE", "launch 1: 1 0",
     "the text ends or goes on otherwise behind `:`; write `launch 2 of KERNEL: blocks 3 1 and warps 1 of "
     "block 0`, with `;` between launches; the kernel, the blocks or the warps may be left out, and a block "
     "is `X`, `X,Y` or `X,Y,Z`"},
    {"OPGATE_SIM_LATE_STORES", "-1", "give a number from 0 to 18446744073709551615"},
    {"OPGATE_SIM_LOG", "2", "give a number from 0 to 1"},
    {"OPGATE_SIM_AUTOTUNE", "yes", "give first or all"},
    {"OPGATE_SIM_RECOVER", "x", "give a number from 0 to 1"},
    {"OPGATE_SIM_ATEN_AT_ONCE", "x", "give a number from 0 to 1"},
    {"OPGATE_SIM_APPROXIMATE", "hgh", "give exact, low or high"},
    {"OPGATE_SIM_COMPILE", "sometimes", "give never, always or automatic"},
    {"OPGATE_SIM_THREADS", "257", "give a number from 0 to 256"},
    {"OPGATE_SIM_THREADS", "2x", "give a number from 0 to 256"},
    {"OPGATE_SIM_CC", "/no/such/compiler", "it is no C compiler: `--version` fails"},
    {"OPGATE_SIM_TOOLS", "init,memory",
     "`memory` is no tool: give some of init, race, sync, stream and traffic, with commas between them"},
};

std::string wrong_settings_in_words() {
  std::string text(4096, '\0');
  text.resize(opgate_sim_wrong_settings(text.data(), text.size()));
  return text;
}

TEST(SimulatedSettings, OfWrongValuesAreToldWithWhatTheyMayBe) {
  ASSERT_EQ(wrong_settings_in_words(), "");
  for (const Wrong& wrong : kWrong) {
    const char* const before = std::getenv(wrong.variable);
    const std::string kept = before == nullptr ? "" : before;
    setenv(wrong.variable, wrong.value, 1);
    EXPECT_EQ(wrong_settings_in_words(),
              std::string(wrong.variable) + "=" + wrong.value + ": " + wrong.wanted);
    before == nullptr ? unsetenv(wrong.variable) : setenv(wrong.variable, kept.c_str(), 1);
  }
}

TEST(SimulatedSettings, OfUnknownNamesAreTold) {
  setenv("OPGATE_SIM_APROXIMATE", "low", 1);
  EXPECT_EQ(
      wrong_settings_in_words().find("OPGATE_SIM_APROXIMATE: there is no such setting; after OPGATE_SIM_"
                                     " there are APPROXIMATE, ARCH, "),
      0);
  unsetenv("OPGATE_SIM_APROXIMATE");
  EXPECT_EQ(wrong_settings_in_words(), "");
}

TEST(SimulatedSettingsDeathTest, EndTheProcessWithTheFirstFunction) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("OPGATE_SIM_FILL", "NaN", 1);
        setenv("OPGATE_SIM_APPROXIMATE", "hgh", 1);
        int count = 0;
        cudaGetDeviceCount(&count);
      },
      ::testing::ExitedWithCode(2),
      "opgate sim: OPGATE_SIM_FILL=NaN: give a number from 0 to 255\n"
      "opgate sim: OPGATE_SIM_APPROXIMATE=hgh: give exact, low or high\n");
}

}  // namespace
}  // namespace opgate::simulator::settings_test
