// The memory of the agent's tables, and of the runner's, is refused at each point where it is
// asked for: once, or from then on. The leak is found, or the run is inconclusive with a
// reason; it never crashes, and never passes.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

struct Failure {
  const char* call;
  const char* how;
  int least;  // how often the call is made at least

  friend void PrintTo(const Failure& failure, std::ostream* stream) {
    *stream << failure.call << " " << failure.how;
  }
};

class OutOfMemoryTest : public testing::TestWithParam<Failure> {
 protected:
  CommandResult RunFailingAt(int which, const Command& command) const {
    std::filesystem::remove(reached_);
    Command failing = {FixturePath("hostile_failing_call"), GetParam().how, GetParam().call,
                       std::to_string(which), reached_};
    failing.insert(failing.end(), command.begin(), command.end());
    return RunCommand(failing);
  }
  bool WasReached() const { return std::filesystem::exists(reached_); }

  void ExpectFoundOrInconclusive(const Command& suite) {
    const Command gated =
        Gated(suite, {"--timeout", "20", "--confirm=off", "--budgets",
                      std::string(LEAKGATE_SOURCE_DIR) + "/tests/fixtures/literal.leakgate.json"});
    for (int which = 1;; ++which) {
      SCOPED_TRACE("at number " + std::to_string(which));
      const CommandResult run = RunFailingAt(which, gated);
      if (run.exit_code == 98) GTEST_SKIP() << "system calls cannot be watched here";
      EXPECT_THAT(run.exit_code, AnyOf(1, 3)) << run.standard_error;
      EXPECT_THAT(run.standard_error, HasSubstr("leakgate: "));
      EXPECT_THAT(run.standard_error, Not(HasSubstr("internal error")));
      if (WasReached()) continue;
      EXPECT_EQ(run.exit_code, 1);
      EXPECT_GT(which, GetParam().least);
      return;
    }
  }

  const TemporaryDirectory directory_;
  const std::string reached_ = directory_.File("reached");
};

TEST_P(OutOfMemoryTest, HidesNoLeak) {
  ExpectFoundOrInconclusive(
      {FixturePath("language_untouched"), "--gtest_filter=*SharedPointersInACycle*"});
}

class OutOfMemoryWithThreadsTest : public OutOfMemoryTest {};

TEST_P(OutOfMemoryWithThreadsTest, HidesNoLeak) {
  ExpectFoundOrInconclusive({FixturePath("threads_listener")});
}

INSTANTIATE_TEST_SUITE_P(, OutOfMemoryTest,
                         testing::Values(Failure{"mmap", "once", 3}, Failure{"mmap", "on", 3},
                                         Failure{"mremap", "once", 0}, Failure{"mremap", "on", 0},
                                         Failure{"memfd_create", "once", 1},
                                         Failure{"ftruncate", "once", 1}),
                         [](const auto& test) {
                           return std::string(test.param.call) + "_" + test.param.how;
                         });

INSTANTIATE_TEST_SUITE_P(, OutOfMemoryWithThreadsTest, testing::Values(Failure{"mmap", "once", 3}),
                         [](const auto& test) { return std::string(test.param.call); });

}  // namespace
}  // namespace leakgate::test
