// What compilers and ninja say of the files that they read is understood, with spaces in names.
#include "provenance/dependency_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opgate::dependency_rules_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Rule = DependencyRule;

TEST(DependencyRules, OfGccHaveEscapesContinuedLinesAndRulesForHeaders) {
  EXPECT_THAT(rules_of_makefile("a\\ b/k.o: a\\ b/k.cpp /usr/include/stdc-predef.h a\\ b/inc/x\\ y.h \\\n"
                                " a\\ b/inc/h\\#1.h a\\ b/inc/d$$.h\n"
                                "/usr/include/stdc-predef.h:\n"
                                "a\\ b/inc/x\\ y.h:\n"),
              ElementsAre(Rule{"a b/k.o",
                               {"a b/k.cpp", "/usr/include/stdc-predef.h", "a b/inc/x y.h", "a b/inc/h#1.h",
                                "a b/inc/d$.h"}}));
}

TEST(DependencyRules, OfNvccHaveASpaceBeforeTheColon) {
  EXPECT_THAT(rules_of_makefile(
                  "s\\ p/c.o : s\\ p/c\\ d.cu \\\n    /usr/include/features.h \\\n    s\\ p/h\\ h#1.h\n"),
              ElementsAre(Rule{"s p/c.o", {"s p/c d.cu", "/usr/include/features.h", "s p/h h#1.h"}}));
}

TEST(DependencyRules, MayBeSeveralInOneFileAndEndInTheMiddle) {
  EXPECT_THAT(rules_of_makefile("a.o: a.cu a.h\r\n\r\nb.o: \\\r\n b.cu back\\slash.h C:/b.h"),
              ElementsAre(Rule{"a.o", {"a.cu", "a.h"}}, Rule{"b.o", {"b.cu", "back\\slash.h", "C:/b.h"}}));
}

TEST(DependencyRules, AreNotSeenInOtherText) {
  EXPECT_THAT(rules_of_makefile(""), IsEmpty());
  EXPECT_THAT(rules_of_makefile("import std.stdio;\nvoid main() {}\n"), IsEmpty());
  EXPECT_THAT(rules_of_ninja("ninja: warning: bad deps log signature\n"), IsEmpty());
}

TEST(DependencyRules, OfNinjaAreOneFileALine) {
  EXPECT_THAT(
      rules_of_ninja("a dir/k.o: #deps 2, deps mtime 1795431162918992709 (VALID)\n"
                     "    ../a dir/k.cu\n"
                     "    /usr/include/stdio.h\n"
                     "\n"
                     "b.o: #deps 1, deps mtime 1 (STALE)\n"
                     "    b.cu\n"
                     "\n"
                     "c.o: deps not found\n"),
      ElementsAre(Rule{"a dir/k.o", {"../a dir/k.cu", "/usr/include/stdio.h"}}, Rule{"b.o", {"b.cu"}}));
}

}  // namespace
}  // namespace opgate::dependency_rules_test
