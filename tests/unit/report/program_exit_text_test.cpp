#include <gtest/gtest.h>

#include "runner/report/window_text.h"

namespace leakgate {
namespace {

TEST(ProgramExitTextTest, NamesTheExitCode) {
  EXPECT_EQ(ProgramExitText({.exit_code = 3, .signal = {}}), "exited with 3");
}

TEST(ProgramExitTextTest, NamesTheSignal) {
  EXPECT_EQ(ProgramExitText({.exit_code = {}, .signal = 11}), "was killed by signal 11 (SIGSEGV)");
}

TEST(ProgramExitTextTest, NumbersASignalWithoutAWellKnownName) {
  EXPECT_EQ(ProgramExitText({.exit_code = {}, .signal = 34}), "was killed by signal 34");
}

}  // namespace
}  // namespace leakgate
