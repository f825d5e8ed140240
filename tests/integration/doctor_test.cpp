// `leakgate doctor` says of real programs whether they can be gated, by the same
// reasons as `leakgate run`, and runs none of their code.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Command Doctor(const std::string& program) { return {LeakgatePath(), "doctor", program}; }

std::string LaunchImage(const std::string& name) { return FixturePath("launch_" + name); }

TEST(DoctorTest, FindsNothingAmissWithADebugBuildOfASuite) {
  const CommandResult result = RunCommand(Doctor(LaunchImage("suite")));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.standard_error, "");
  EXPECT_THAT(result.standard_output, AllOf(HasSubstr("launch_suite can be gated\n"),
                                            HasSubstr("ok    tests: GoogleTest; "),
                                            HasSubstr("ok    ptrace: "), Not(HasSubstr("no  "))));
}

TEST(DoctorTest, RunsNothingOfTheProgram) {
  const TemporaryDirectory directory;
  const std::string script = directory.Write("script", "#!/bin/sh\ntouch \"$0.ran\"\n");
  ::chmod(script.c_str(), 0755);
  const CommandResult result = RunCommand(Doctor(script));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.standard_output, HasSubstr("warn  tests: no GoogleTest found"));
  EXPECT_FALSE(std::filesystem::exists(script + ".ran"));
}

struct Refused {
  const char* name;
  const char* why;
};

class DoctorRefusalTest : public testing::TestWithParam<Refused> {};

TEST_P(DoctorRefusalTest, SaysWhyAsARunDoes) {
  if (!HasImage(GetParam().name)) GTEST_SKIP() << "no compiler here makes it";
  const CommandResult result = RunCommand(Doctor(LaunchImage(GetParam().name)));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.standard_output, HasSubstr(" cannot be gated here\n  no    program: "));
  EXPECT_THAT(result.standard_output, HasSubstr(GetParam().why));
}

INSTANTIATE_TEST_SUITE_P(, DoctorRefusalTest,
                         testing::Values(Refused{"static", "it is statically linked"},
                                         Refused{"32bit", "it is built for 32-bit x86"},
                                         Refused{"gcc_asan", "it is built with AddressSanitizer"},
                                         Refused{"ifunc_malloc",
                                                 "it defines malloc in its own executable"}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(DoctorTest, TellsOfAnAllocatorInTheProgram) {
  const CommandResult result = RunCommand(Doctor(LaunchImage("tcmalloc_inside")));
  EXPECT_THAT(result.standard_output, HasSubstr("whose functions are led to the agent"));
}

TEST(DoctorTest, RefusesASetUidFile) {
  const TemporaryDirectory directory;
  const std::string copy = directory.File("copy");
  std::filesystem::copy_file(LaunchImage("dynamic"), copy);
  ::chmod(copy.c_str(), 04755);
  const CommandResult result = RunCommand(Doctor(copy));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.standard_output, HasSubstr("it is set-uid or set-gid"));
}

TEST(DoctorTest, WarnsOfAStrippedProgram) {
  const TemporaryDirectory directory;
  const std::string copy = directory.File("copy");
  RunCommand({"strip", "-o", copy, LaunchImage("suite")});
  const CommandResult result = RunCommand(Doctor(copy));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.standard_output, AllOf(HasSubstr("copy can be gated, but see the warnings\n"),
                                            HasSubstr("warn  symbols: the file is stripped"),
                                            HasSubstr("warn  lines: no debug information")));
}

TEST(StrippedProgramTest, HasALineThatSaysWhyThereAreOnlyAddresses) {
  const TemporaryDirectory directory;
  const std::string copy = directory.File("copy");
  const auto leak = [&](const char* how) {
    RunCommand({"strip", how, "-o", copy, FixturePath("kinds_untouched")});
    return RunByDefault({copy, "--gtest_filter=Kinds.Malloc"}).command.standard_error;
  };
  EXPECT_THAT(leak("-s"), HasSubstr("copy has no symbols, so addresses stand for its functions"));
  EXPECT_THAT(leak("-g"), HasSubstr("copy has no debug information, so no line of it is known"));
}

TEST(DoctorTest, RefusesALimitThatDoesNotHoldTheRegion) {
  const std::string suite = LaunchImage("suite");
  for (const char* limit : {"ulimit -v 300000", "ulimit -Sv 300000"}) {
    const CommandResult result = RunCommand(Behind(limit, Doctor(suite)));
    EXPECT_EQ(result.exit_code, 3) << limit;
    EXPECT_THAT(result.standard_output, HasSubstr("(ulimit -v)"));
  }
}

TEST(DoctorTest, RefusesAStreamThatIsNotFree) {
  const CommandResult result = RunCommand({LeakgatePath(), "doctor", "--", LaunchImage("suite"),
                                           "--gtest_stream_result_to=localhost:1"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.standard_output, HasSubstr("no    stream: GoogleTest's stream"));
}

TEST(DoctorTest, MissesAnAgentThatIsNotInstalled) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.File("bin"));
  std::filesystem::copy_file(LeakgatePath(), directory.File("bin/leakgate"));
  const CommandResult result =
      RunCommand({directory.File("bin/leakgate"), "doctor", LaunchImage("suite")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.standard_output, HasSubstr("the agent is missing"));
}

TEST(DoctorTest, OfNoProgramIsAUsageError) {
  const CommandResult result = RunCommand(Doctor("/no/such/program"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.standard_output, "");
  EXPECT_THAT(result.standard_error, StartsWith("leakgate: /no/such/program: no such program"));
}

}  // namespace
}  // namespace leakgate::test
