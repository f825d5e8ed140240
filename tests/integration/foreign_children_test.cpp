// What a test starts may be of any make: the variables that preload the agent are inherited by
// programs that cannot have it, and those must run as they do alone.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;

std::string ImagePath(const std::string& image) { return Launch(image).front(); }

// How the program under test, which is none of GoogleTest's here, starts `path`.
Command InShell(const std::string& path) { return {"sh", "-c", path + "; echo $?"}; }
Command Searched(const std::string& path) {
  const std::filesystem::path file(path);
  return {"sh", "-c",
          "PATH=" + file.parent_path().string() + ":$PATH; env " + file.filename().string() +
              "; echo $?"};
}
Command InPython(const std::string& call) {
  return {"python3", "-c", "import os; print(os.waitpid(" + call + ", 0)[1])"};
}
Command Spawned(const std::string& path) {
  return InPython("os.posix_spawn('" + path + "', ['a'], os.environ)");
}
Command SpawnedByName(const std::string& path) {
  const std::filesystem::path file(path);
  Command command =
      InPython("os.posix_spawnp('" + file.filename().string() + "', ['a'], os.environ)");
  command.back().insert(sizeof("import os;") - 1,
                        " os.environ['PATH'] = '" + file.parent_path().string() + "';");
  return command;
}
Command OfADescriptor(const std::string& path) {
  return {"python3", "-c",
          "import os\n"
          "if os.fork() == 0: os.execve(os.open('" +
              path +
              "', os.O_RDONLY), ['a'], os.environ)\n"
              "print(os.wait()[1])"};
}

void ExpectAsAlone(const Command& command) {
  const CommandResult native = RunCommand(command);
  const CommandResult gated = RunCommand(Gated(command));
  EXPECT_EQ(native.standard_error, "");
  EXPECT_EQ(gated.exit_code, native.exit_code) << gated.standard_error;
  EXPECT_EQ(gated.standard_output, native.standard_output);
  EXPECT_THAT(gated.standard_error, testing::StartsWith("leakgate: "));
}

class ForeignChildTest : public testing::TestWithParam<const char*> {};

TEST_P(ForeignChildTest, RunsAsItDoesAlone) {
  if (!HasImage(GetParam())) GTEST_SKIP() << "no compiler here makes it";
  ExpectAsAlone(InShell(ImagePath(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(, ForeignChildTest,
                         testing::Values("32bit", "musl", "static", "static_pie", "gcc_asan",
                                         "gcc_asan_static", "clang_asan", "clang_asan_shared",
                                         "gcc_tsan", "clang_tsan", "gcc_lsan", "clang_lsan",
                                         "clang_msan", "gcc_ubsan", "clang_ubsan", "own_malloc"),
                         [](const auto& image) { return std::string(image.param); });

TEST(ForeignChildrenTest, RunSoHoweverTheyAreStarted) {
  for (const char* const image : {"32bit", "gcc_asan"}) {
    if (!HasImage(image)) continue;
    for (const auto& start : {Searched, Spawned, SpawnedByName, OfADescriptor}) {
      const Command command = start(ImagePath(image));
      SCOPED_TRACE(command.back());
      ExpectAsAlone(command);
    }
  }
}

TEST(ForeignChildrenTest, RunSoAsAScriptsInterpreter) {
  const TemporaryDirectory directory;
  const std::string script = directory.Write("script", "#! " + ImagePath("gcc_asan") + " -x\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  ExpectAsAlone(InShell(script));
}

// Nothing of it is traced: that is no pass.
TEST(ForeignChildrenTest, LeaveARunInconclusiveThatTheyTakeThePlaceOf) {
  const CommandResult result = RunCommand(Gated({"env", ImagePath("gcc_asan")}));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.standard_error, HasSubstr("executed another that cannot be traced"));
}

TEST(ForeignChildrenTest, AreRefusedWhereABudgetNamesThem) {
  const TemporaryDirectory directory;
  for (const auto& [image, why] : {std::pair("32bit", "it is built for 32-bit x86"),
                                   std::pair("gcc_asan", "it is built with AddressSanitizer")}) {
    if (!HasImage(image)) continue;
    const std::string budget = directory.Write(
        "a.leakgate.json",
        std::string(R"({"component": "a", "processes": ["launch_)") + image + R"("]})");
    const GatedRun run = RunByDefault(InShell(ImagePath(image)), {"--budgets", budget});
    EXPECT_EQ(run.command.exit_code, 3) << image;
    EXPECT_THAT(run.command.standard_error, HasSubstr(why));
  }
}

// For the kernel that is an error like any other.
TEST(ForeignChildrenTest, AreNotLookedForAtAddressesThatAreNone) {
  ExpectAsAlone({"python3", "-c",
                 "import ctypes\n"
                 "libc = ctypes.CDLL(None, use_errno=True)\n"
                 "no = ctypes.c_void_p(16)\n"
                 "print(libc.execve(no, no, no), ctypes.get_errno())\n"
                 "print(libc.execve(b'/bin/true', None, no), ctypes.get_errno())\n"});
}

}  // namespace
}  // namespace leakgate::test
