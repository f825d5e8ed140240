// What a thread's system call returns does not depend on whether a look, a snapshot, or a session
// that begins or ends met the thread in it.
#include <gmock/gmock.h>
#include <unistd.h>

#include <map>
#include <regex>
#include <sstream>

#include "tests/integration/both_modes.h"
#include "tests/support/command.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;

// Returns the lines of `output` that tell what a call returned.
std::string ResultsIn(const std::string& output) {
  static const std::regex result("^[a-z0-9_ FIO]+: -?[0-9]+$");
  std::istringstream lines(output);
  std::string results;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, result)) results += line + '\n';
  }
  return results;
}

// Without leakgate.
const std::string& NativeResults(const std::string& program) {
  static std::map<std::string, std::string> results;
  std::string& known = results[program];
  if (known.empty()) known = ResultsIn(RunCommand({program}).standard_output);
  return known;
}

class WaitingCallsTest : public BothModes {
 protected:
  static std::string Program() { return Fixture("waiting_calls"); }
};

TEST_P(WaitingCallsTest, ReturnTheSameWhereTestsLoseMemoryMeanwhile) {
  const GatedRun run = RunByDefault({Program()}, {"--confirm=off"});

  EXPECT_THAT(NativeResults(Program()), HasSubstr("recv all: 8\n"));
  EXPECT_EQ(ResultsIn(run.command.standard_output), NativeResults(Program()));
  EXPECT_EQ(run.command.exit_code, 1) << run.command.standard_error;
  EXPECT_EQ(run.Test("Calls.AwaitALine")["verdict"], "pass");
  EXPECT_EQ(run.Test("Calls.LoseABlock")["verdict"], "over_budget");
  EXPECT_EQ(run.Test("Calls.LoseAnother")["verdict"], "over_budget");
}

LEAKGATE_IN_BOTH_MODES(WaitingCallsTest);

TEST(AttachedWaitingCallsTest, ReturnTheSameWhereASessionBeginsAndEndsMeanwhile) {
  const std::string program = FixturePath("waiting_calls_untouched");
  const std::string session = "waiting-" + std::to_string(::getpid());
  const TemporaryDirectory directory;
  const std::string script = R"(
    coproc program { exec "$1"; }
    exec 3<&${program[0]} 4>&${program[1]}
    while read -r line <&3 && [ "$line" != "all wait" ]; do :; done
    "$0" session start "$2" --pid $program_PID >&2 &&
      "$0" snapshot take --pid $program_PID -o "$3" --consistent >&2 &&
      "$0" session stop "$2" >&2
    attached=$?
    echo >&4
    cat <&3
    exit $attached)";
  const CommandResult result = RunCommand(
      {"bash", "-c", script, LeakgatePath(), program, session, directory.File("a.snapshot")},
      {.environment = {"WAITING_CALLS_AWAIT_A_LINE=1"}});

  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(ResultsIn(result.standard_output), NativeResults(program));
}

}  // namespace
}  // namespace leakgate::test
