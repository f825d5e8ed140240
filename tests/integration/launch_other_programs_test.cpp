// Programs that are no GoogleTest binaries run as they do alone, and have the
// program window.
#include <gmock/gmock.h>

#include <ostream>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

struct Program {
  const char* name;
  Command command;
  std::string standard_input = {};

  friend void PrintTo(const Program& program, std::ostream* stream) { *stream << program.name; }
};

class LaunchOtherProgramsTest : public testing::TestWithParam<Program> {};

TEST_P(LaunchOtherProgramsTest, RunsAsItDoesAlone) {
  const CommandOptions options{.standard_input = GetParam().standard_input};
  const CommandResult native = RunCommand(GetParam().command, options);
  const CommandResult gated = RunCommand(Gated(GetParam().command), options);
  EXPECT_EQ(gated.exit_code, native.exit_code);
  EXPECT_EQ(gated.standard_output, native.standard_output);
  EXPECT_THAT(gated.standard_error, testing::StartsWith(native.standard_error + "leakgate: "));
}

// One for each program that it executes: a script's interpreter, a wrapper.
TEST_P(LaunchOtherProgramsTest, HasProgramWindowsAlone) {
  const GatedRun run =
      RunGated(GetParam().command, {}, {.standard_input = GetParam().standard_input});
  ASSERT_FALSE(run.report["windows"].empty());
  for (const nlohmann::json& window : run.report["windows"]) EXPECT_EQ(window["kind"], "program");
  EXPECT_EQ(run.report["verdict"], "pass");
}

INSTANTIATE_TEST_SUITE_P(
    , LaunchOtherProgramsTest,
    testing::Values(Program{"Shell", {"sh", "-c", "echo out; echo err >&2; exit 9"}},
                    Program{"Git", {"git", "--version"}},
                    Program{"Python", {"python3", "-c", "import json; print(json.dumps([1]))"}},
                    Program{"Cat", {"cat"}, "a\nc\nb\n"},
                    Program{"Pipeline", {"bash", "-c", "seq 100 | tr 0 x | wc -c"}},
                    Program{"Nothing", {"true"}}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace leakgate::test
