// A program that is a symbolic link is shown by the name that it was called by, and looked into
// where it really is.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A directory with "net_test", a link to a link to a suite that is called otherwise.
class CalledNamesTest : public testing::Test {
 protected:
  CalledNamesTest() {
    fs::create_symlink(FixturePath("kinds_listener"), directory_.File("target"));
    fs::create_symlink("target", link_);
  }

  // Runs one test of what the shell finds as `program`, in the link's directory.
  CommandResult RunThere(const std::string& program) const {
    return RunCommand({"sh", "-c",
                       R"(cd "$1" && PATH=$1:$PATH exec "$2" run --confirm=off --report )"
                       R"('json={binary}.json' -- "$3" --gtest_filter=Kinds.Malloc)",
                       "sh", directory_.path(), LeakgatePath(), program});
  }
  void ExpectCalled(const CommandResult& result, const std::string& program) const {
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    // The lines come from the real file.
    EXPECT_THAT(result.standard_error,
                AllOf(HasSubstr("kinds.cpp:"), Not(HasSubstr("kinds_listener"))));
    const auto report = nlohmann::json::parse(ReadFile(directory_.File("net_test.json")));
    EXPECT_EQ(report["binary"], program);
  }

  TemporaryDirectory directory_;
  const std::string link_ = directory_.File("net_test");
};

TEST_F(CalledNamesTest, ARunIsNamedAsItsLinkByPath) { ExpectCalled(RunThere(link_), link_); }

TEST_F(CalledNamesTest, ARunIsNamedAsItsLinkByRelativePath) {
  ExpectCalled(RunThere("./net_test"), "./net_test");
}

TEST_F(CalledNamesTest, ARunIsNamedAsItsLinkInPath) {
  ExpectCalled(RunThere("net_test"), "net_test");
}

// A multi-call binary goes by its first argument.
TEST_F(CalledNamesTest, AProgramIsGivenTheNameThatItWasCalledBy) {
  fs::create_symlink(FixturePath("launch_probe"), directory_.File("ls"));
  const CommandResult result = Leakgate({"run", "--", directory_.File("ls"), "arguments"});
  EXPECT_EQ(result.standard_output, "[" + directory_.File("ls") + "]\n[arguments]\n");
}

TEST_F(CalledNamesTest, ALinkThatTheProgramRemovesKeepsItsName) {
  const std::string shell = directory_.File("net_shell");
  fs::create_symlink("/bin/sh", shell);
  const CommandResult result =
      Leakgate({"run", "--report", "json=" + directory_.File("{binary}.json"), "--", shell, "-c",
                "rm \"$0\"", shell});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_FALSE(fs::is_symlink(shell));
  const auto report = nlohmann::json::parse(ReadFile(directory_.File("net_shell.json")));
  EXPECT_EQ(report["binary"], shell);
}

TEST_F(CalledNamesTest, ALinkThatLeadsNowhereIsSaidSo) {
  fs::remove(directory_.File("target"));
  const CommandResult result = RunThere("./net_test");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.standard_error, HasSubstr("./net_test: no such program"));
}

TEST_F(CalledNamesTest, DoctorNamesTheLink) {
  const CommandResult result = Leakgate({"doctor", link_});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output;
  EXPECT_THAT(result.standard_output,
              AllOf(HasSubstr("program: " + link_ + ": "), Not(HasSubstr("kinds_listener"))));
}

TEST_F(CalledNamesTest, ARefusalNamesTheLink) {
  fs::create_symlink(FixturePath("launch_static"), directory_.File("still"));
  for (const char* command : {"doctor", "run"}) {
    const CommandResult result = Leakgate({command, "--", directory_.File("still")});
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_THAT(result.standard_output + result.standard_error,
                AllOf(HasSubstr(directory_.File("still") + ": "), Not(HasSubstr("launch_static"))));
  }
}

// A session that traces the link's program, which waits for its input.
class CalledNamesOfSessionsTest : public CalledNamesTest {
 protected:
  CalledNamesOfSessionsTest() {
    fs::create_symlink(FixturePath("heap_on_request"), server_);
    Leakgate({"session", "start", session_, "--image", "net_server"});
  }
  ~CalledNamesOfSessionsTest() override { Leakgate({"session", "stop", session_}); }

  CommandResult Exec(const std::string& directory, const std::string& program) const {
    return Leakgate({"session", "exec", session_, "--", "sh", "-c",
                     R"(cd "$1" && PATH=$1:$PATH exec "$2" < /dev/null)", "sh", directory,
                     program});
  }
  nlohmann::json Process() const {
    const CommandResult query = Leakgate({"session", "query", session_, "--json"});
    return nlohmann::json::parse(query.standard_output)["processes"][0];
  }

  const std::string server_ = directory_.File("net_server");
  const std::string session_ = "called-" + std::to_string(::getpid());
};

TEST_F(CalledNamesOfSessionsTest, AProcessIsNamedAsItsLink) {
  for (const std::string& program :
       {server_, std::string("./net_server"), std::string("net_server")}) {
    Leakgate({"session", "stop", session_});
    Leakgate({"session", "start", session_, "--image", "net_server"});
    ASSERT_EQ(Exec(directory_.path(), program).exit_code, 0);
    EXPECT_EQ(Process()["name"], server_);
    EXPECT_EQ(Process()["path"], FixturePath("heap_on_request"));
    const CommandResult query = Leakgate({"session", "query", session_});
    EXPECT_THAT(query.standard_output,
                AllOf(HasSubstr("  net_server  "), Not(HasSubstr("heap_on_request"))));
  }
}

TEST_F(CalledNamesOfSessionsTest, ASnapshotIsNamedAsTheLink) {
  ASSERT_EQ(Exec(directory_.path(), server_).exit_code, 0);
  fs::create_directory(directory_.File("kept"));
  ASSERT_EQ(Leakgate({"session", "stop", session_, "-o", directory_.File("kept")}).exit_code, 0);
  const fs::path file = fs::directory_iterator(directory_.File("kept"))->path();
  EXPECT_THAT(file.filename().string(), testing::StartsWith("net_server-"));
  const std::string shown = Leakgate({"snapshot", "show", file.string()}).standard_output;
  EXPECT_THAT(shown, testing::StartsWith("snapshot of " + server_ + ", PID "));
  const std::string diff =
      Leakgate({"snapshot", "diff", file.string(), file.string()}).standard_output;
  EXPECT_THAT(diff, AllOf(HasSubstr("net_server, PID "), Not(HasSubstr("heap_on_request,"))));
}

TEST_F(CalledNamesOfSessionsTest, ASnapshotOfARunIsNamedAsTheLink) {
  const CommandResult run =
      Leakgate({"run", "--confirm=off", "--snapshots", directory_.File("kept"), "--when=every",
                "--", link_, "--gtest_filter=Kinds.Malloc"});
  ASSERT_EQ(run.exit_code, 0) << run.standard_error;
  const fs::path file = fs::directory_iterator(directory_.File("kept"))->path();
  EXPECT_THAT(file.filename().string(), testing::StartsWith("net_test-"));
}

}  // namespace
}  // namespace leakgate::test
