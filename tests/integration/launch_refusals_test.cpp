// What cannot be traced is refused: exit code 3, nothing run, one line that
// says what, why and what to do.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <ostream>

#include "tests/integration/launch_commands.h"
#include "tests/support/processor.h"
#include "tests/support/public_copy.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

void ExpectRefusal(const CommandResult& result, const std::string& why, const std::string& remedy) {
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.standard_output, "");
  EXPECT_THAT(result.standard_error, MatchesRegex("leakgate: [^\n]*\n"));
  EXPECT_THAT(result.standard_error, HasSubstr(why));
  EXPECT_THAT(result.standard_error, HasSubstr(remedy));
}

struct Image {
  const char* name;
  const char* why;
  const char* remedy;

  friend void PrintTo(const Image& image, std::ostream* stream) { *stream << image.name; }
};

class LaunchRefusalTest : public testing::TestWithParam<Image> {};

TEST_P(LaunchRefusalTest, SaysWhatWhyAndWhatToDo) {
  if (!HasImage(GetParam().name)) GTEST_SKIP() << "no compiler here makes it";
  const Command image = Launch(GetParam().name);
  const CommandResult result = RunCommand(Gated(image));
  ExpectRefusal(result, GetParam().why, GetParam().remedy);
  EXPECT_THAT(result.standard_error, HasSubstr(image.front()));
}

constexpr char kNoAsan[] = "gate a build without -fsanitize=address";

INSTANTIATE_TEST_SUITE_P(
    , LaunchRefusalTest,
    testing::Values(
        Image{"static", "it is statically linked", "link it dynamically (without -static"},
        Image{"static_pie", "it is statically linked", "link it dynamically (without -static"},
        Image{"32bit", "it is built for 32-bit x86", "build the tests for x86-64"},
        Image{"musl", "it is linked with musl", "build the tests with glibc"},
        Image{"gcc_asan", "it is built with AddressSanitizer", kNoAsan},
        Image{"gcc_asan_static", "it is built with AddressSanitizer", kNoAsan},
        Image{"clang_asan", "it is built with AddressSanitizer", kNoAsan},
        Image{"clang_asan_shared", "it is built with AddressSanitizer", kNoAsan},
        Image{"gcc_tsan", "it is built with ThreadSanitizer", "without -fsanitize=thread"},
        Image{"clang_tsan", "it is built with ThreadSanitizer", "without -fsanitize=thread"},
        Image{"gcc_lsan", "it is built with LeakSanitizer", "without -fsanitize=leak"},
        Image{"clang_lsan", "it is built with LeakSanitizer", "without -fsanitize=leak"},
        Image{"clang_msan", "it is built with MemorySanitizer", "without -fsanitize=memory"},
        Image{"ifunc_malloc", "malloc is chosen as the program starts (ifunc)",
              "as a shared library"},
        Image{"unmovable_malloc", "and malloc: it begins with ", "as a shared library"}),
    [](const auto& test) { return std::string(test.param.name); });

class LaunchAcceptedTest : public testing::TestWithParam<const char*> {};

TEST_P(LaunchAcceptedTest, IsTraced) {
  if (!HasImage(GetParam())) GTEST_SKIP() << "no compiler here makes it";
  EXPECT_EQ(RunCommand(Gated(Launch(GetParam()))).exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(, LaunchAcceptedTest,
                         testing::Values("dynamic", "gcc_ubsan", "clang_ubsan", "own_malloc",
                                         "own_malloc_stripped", "tcmalloc_inside"));

// Unusual, and traced as any other.
class LaunchUnusualImageTest : public testing::TestWithParam<const char*> {};

TEST_P(LaunchUnusualImageTest, HasItsLeaksFound) {
  const GatedRun run = RunGated(Launch(GetParam(), {"--gtest_filter=*.Leaks"}));
  EXPECT_EQ(run.command.exit_code, 1);
  EXPECT_EQ(run.Test("Launch.Leaks")["outstanding"]["bytes"], 100);
}

INSTANTIATE_TEST_SUITE_P(, LaunchUnusualImageTest,
                         testing::Values("suite_execstack", "suite_bare"));

// A thread's stack of pieces, each from mmap, is walked on and changed in the middle of calls.
TEST(LaunchSplitStackTest, RunsAsItDoesAloneAndLeavesNothing) {
  if (!HasImage("split_stack")) GTEST_SKIP() << "no compiler here makes it";
  const CommandResult alone = RunCommand(Launch("split_stack"));
  const GatedRun run = RunGated(Launch("split_stack"));
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
  EXPECT_EQ(run.command.standard_output, alone.standard_output);
  EXPECT_TRUE(run.report["tracing"]["drops"].empty()) << run.report["tracing"];
}

std::string CopyOfDynamic(const TemporaryDirectory& directory) {
  std::filesystem::copy_file(FixturePath("launch_dynamic"), directory.File("copy"));
  return directory.File("copy");
}

TEST(LaunchRefusalsTest, OfASetUidFile) {
  const TemporaryDirectory directory;
  const std::string copy = CopyOfDynamic(directory);
  ::chmod(copy.c_str(), 04755);
  ExpectRefusal(RunCommand(Gated({copy})), "it is set-uid or set-gid", "gate a copy without");
}

// The kernel itself does not start it.
TEST(LaunchRefusalsTest, OfAProgramForAnotherProcessor) {
  constexpr char kVax = 75;
  const TemporaryDirectory directory;
  const std::string copy = CopyOfDynamic(directory);
  std::fstream file(copy, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(18).write(std::string({kVax, 0}).data(), 2);  // e_machine
  file.close();
  const std::string name = kProcessorName;
  ExpectRefusal(RunCommand(Gated({copy})),
                copy +
                    ": cannot be traced: it is built for another architecture (ELF machine 75), " +
                    "and this leakgate's agent for " + name,
                "build the tests for " + name);
}

// ld.so BINARY
TEST(LaunchRefusalsTest, OfTheDynamicLinker) {
  ExpectRefusal(RunCommand(Gated({kDynamicLinker, FixturePath("launch_dynamic")})),
                "it is the dynamic linker", "name that program itself");
}

TEST(LaunchRefusalsTest, OfAPassForTestsThatTheDynamicLinkerRuns) {
  for (const std::string arguments : {"", " --argv0 suite"}) {
    const std::string linker = kDynamicLinker + arguments;
    const std::string suite = FixturePath("launch_suite");
    const CommandResult run =
        RunCommand(Gated({"sh", "-c", linker + " " + suite + " --gtest_filter=*.Passes; exit 0"}));
    EXPECT_EQ(run.exit_code, 3);
    EXPECT_THAT(run.standard_error, HasSubstr("the tests of " + suite + " were not gated"));
  }
}

TEST(LaunchRefusalsTest, OfASetGidFile) {
  const TemporaryDirectory directory;
  const std::string copy = CopyOfDynamic(directory);
  ::chmod(copy.c_str(), 02755);
  ExpectRefusal(RunCommand(Gated({copy})), "it is set-uid or set-gid", "gate a copy without");
}

TEST(LaunchRefusalsTest, OfFileCapabilities) {
  const TemporaryDirectory directory;
  const std::string copy = CopyOfDynamic(directory);
  const CommandResult granted = RunCommand({"/usr/sbin/setcap", "cap_net_raw+ep", copy});
  if (granted.exit_code != 0) GTEST_SKIP() << "file capabilities cannot be set here";
  ExpectRefusal(RunCommand(Gated({copy})), "it has file capabilities", "setcap -r");
}

TEST(LaunchRefusalsTest, OfAFileThatCannotBeRead) {
  const PublicCopy files;
  const std::string copy = files.Add(FixturePath("launch_dynamic"));
  ::chmod(copy.c_str(), 0111);
  Command command = {files.Leakgate(), "run", "--", copy};
  if (::geteuid() == 0) {
    command.insert(command.begin(), {"setpriv", "--reuid=65534", "--clear-groups"});
  }
  ExpectRefusal(RunCommand(command), copy + ": cannot be read", "make it readable");
}

TEST(LaunchRefusalsTest, OfAMissingAgent) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.File("bin"));
  std::filesystem::copy_file(LeakgatePath(), directory.File("bin/leakgate"));
  ExpectRefusal(RunCommand({directory.File("bin/leakgate"), "run", "--", "true"}),
                directory.File("lib/libleakgate_agent.so") + ": the agent is missing",
                "reinstall leakgate");
}

TEST(LaunchRefusalsTest, OfAnAgentWhosePathHasASpace) {
  const TemporaryDirectory directory;
  const std::string root = directory.File("with space");
  std::filesystem::create_directories(root + "/bin");
  std::filesystem::create_directories(root + "/lib");
  std::filesystem::copy_file(LeakgatePath(), root + "/bin/leakgate");
  std::filesystem::copy_file(std::string(LEAKGATE_BINARY_DIR) + "/lib/libleakgate_agent.so",
                             root + "/lib/libleakgate_agent.so");
  ExpectRefusal(RunCommand({root + "/bin/leakgate", "run", "--", "true"}),
                "cannot preload a path with a space", "install leakgate elsewhere");
}

}  // namespace
}  // namespace leakgate::test
