// -k: words of case ids with and, or, not and parentheses, as pytest takes them.
#include "plan/keywords.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opgate/error.h>

#include "support.h"

namespace opgate::keywords_test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCase = "layer_norm/float32/4x6/x=stepped/cpu/value.layout";

TEST(Keywords, FindWordsAnywhereInTheCaseId) {
  for (const char* matching : {"", "layer", "LAYER_Norm", "value.layout", "layer and cpu", "relu or stepped",
                               "not relu", "not (relu or gelu)", "layer and not (grad or float16)",
                               "not not layer", "relu or layer and cpu", "(layer)"})
    EXPECT_TRUE(Keywords(matching).matches(kCase)) << matching;
  for (const char* other :
       {"relu", "layer and cuda", "not layer", "not (layer and cpu)", "(relu or layer) and cuda"})
    EXPECT_FALSE(Keywords(other).matches(kCase)) << other;
}

TEST(Keywords, SayWhatIsWrong) {
  const auto said = [](const char* expression) {
    return testing::message_of<SetupError>([&] { Keywords{expression}; });
  };
  EXPECT_THAT(said("layer and"), HasSubstr("a word is missing at its end"));
  EXPECT_THAT(said("or layer"), HasSubstr("a word is missing before 'or'"));
  EXPECT_THAT(said("(layer"), HasSubstr("a ')' is missing"));
  EXPECT_THAT(said("layer norm"), HasSubstr("'norm' is not expected"));
  EXPECT_THAT(said("()"), HasSubstr("a word is missing before ')'"));
}

}  // namespace
}  // namespace opgate::keywords_test
