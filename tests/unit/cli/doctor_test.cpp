#include "runner/cli/commands/doctor.h"

#include <gmock/gmock.h>

namespace leakgate {
namespace {

using testing::StartsWith;

const Check kFine = {CheckResult::kOk, "agent", "found"};
const Check kPoor = {CheckResult::kWarning, "lines", "none; build with -g"};
const Check kBad = {CheckResult::kNo, "program", "it is static; link it dynamically"};

TEST(DoctorTextTest, HasTheAnswerAndALineForEachCheck) {
  EXPECT_EQ(DoctorText("./a", {kBad, kFine, kPoor}, Colour::kOff),
            "leakgate: ./a cannot be gated here\n"
            "  no    program: it is static; link it dynamically\n"
            "  ok    agent: found\n"
            "  warn  lines: none; build with -g\n");
}

TEST(DoctorTextTest, SaysThatItCanBeGatedAndWhetherSomethingIsAmiss) {
  EXPECT_THAT(DoctorText("./a", {kFine}, Colour::kOff), StartsWith("leakgate: ./a can be gated\n"));
  EXPECT_THAT(DoctorText("./a", {kFine, kPoor}, Colour::kOff),
              StartsWith("leakgate: ./a can be gated, but see the warnings\n"));
}

TEST(DoctorTextTest, PrintsNoControlCharacters) {
  EXPECT_THAT(DoctorText("./\x1b[2J", {kFine}, Colour::kOff), StartsWith("leakgate: ./\\x1b[2J "));
}

TEST(SelfTestTextTest, SaysHowManyDoNotHold) {
  EXPECT_EQ(SelfTestText({kFine, kPoor}, Colour::kOff),
            "leakgate: self-test: all holds\n"
            "  ok    agent: found\n"
            "  warn  lines: none; build with -g\n");
  EXPECT_THAT(SelfTestText({kFine, kBad, kPoor}, Colour::kOff),
              StartsWith("leakgate: self-test: 1 of 3 do not hold; leakgate help windows says"));
}

}  // namespace
}  // namespace leakgate
