// Directories that all may write, as /tmp is: what another user has put there for a report, a
// snapshot or a history to fall into is refused, and what is the user's own works as anywhere.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A command that waits for another process would wait for ever.
const CommandOptions kPatient{.timeout = std::chrono::seconds(30)};

const std::string& AReport() {
  static const std::string report = RunByDefault({"true"}).report.dump();
  return report;
}

// What a stranger has put into the shared directory.
struct Trap {
  const char* name;
  const char* script;
  const char* path;  // that is written, from the directory above
  const char* what;  // the error says that it is
};

class SharedDirectoryTest : public testing::TestWithParam<Trap> {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user as well";
    ::chmod(directory_.path().c_str(), 0755);
    for (const char* const name : {"shared", "victim"}) fs::create_directory(File(name));
    ::chmod(File("shared").c_str(), 01777);
  }
  void TearDown() override {
    // Whoever reads the FIFO has come to its end.
    const int fifo = ::open(File("shared/trap").c_str(), O_WRONLY | O_NONBLOCK);
    if (fifo >= 0) ::close(fifo);
  }

  std::string File(const std::string& name) const { return directory_.File(name); }

  void Lay(const std::string& trap) const {
    const CommandResult laid =
        RunCommand({"setpriv", "--reuid=65534", "--clear-groups", "bash", "-c", trap},
                   {.directory = File("shared")});
    ASSERT_EQ(laid.exit_code, 0) << laid.standard_error;
  }

  CommandResult WriteReport(const std::string& path) const {
    return Leakgate({"merge", result_, "-o", path}, kPatient);
  }
  CommandResult AddToHistory(const std::string& path) const {
    return Leakgate({"history", "add", path, result_}, kPatient);
  }

  // Nothing went into what the trap leads to.
  void ExpectNothingStolen() const {
    EXPECT_TRUE(fs::is_empty(File("victim")));
    EXPECT_EQ(ReadFile(File("shared/stolen")), "");
    if (fs::is_regular_file(fs::symlink_status(File("shared/trap")))) {
      EXPECT_TRUE(fs::is_empty(File("shared/trap")));
    }
  }

  const TemporaryDirectory directory_;
  const std::string result_ = directory_.Write("result.json", AReport());
};

TEST_P(SharedDirectoryTest, KeepsAReportOutOfAnotherUsersTrap) {
  Lay(GetParam().script);
  const std::string path = File(GetParam().path);
  const CommandResult merged = WriteReport(path);
  EXPECT_EQ(merged.exit_code, 3);
  EXPECT_THAT(
      merged.standard_error,
      HasSubstr("leakgate: cannot write report " + path + ": it is another user's " +
                GetParam().what + ", in a directory that all may write; write it elsewhere\n"));
  ExpectNothingStolen();
}

TEST_P(SharedDirectoryTest, KeepsAHistoryOutOfAnotherUsersTrap) {
  Lay(GetParam().script);
  const std::string path = File(GetParam().path);
  const CommandResult added = AddToHistory(path);
  EXPECT_EQ(added.exit_code, 2);
  EXPECT_THAT(added.standard_error, HasSubstr(path + ": it is another user's " + GetParam().what));
  ExpectNothingStolen();
}

INSTANTIATE_TEST_SUITE_P(
    , SharedDirectoryTest,
    testing::Values(
        Trap{"Link", "ln -s ../victim/file trap", "shared/trap", "link"},
        Trap{"LinkOnTheWay", "ln -s ../victim trap", "shared/trap/file", "link"},
        Trap{"LinkAndUpAgain", "ln -s ../victim trap", "shared/trap/../victim/file", "link"},
        Trap{"File", "umask 0; touch trap", "shared/trap", "file"},
        Trap{"Fifo",
             "mkfifo -m 0666 trap; setsid cat trap > stolen 2> /dev/null < /dev/null &"
             " sleep 0.2",
             "shared/trap", "file"},
        Trap{"FifoThatNobodyReads", "mkfifo -m 0666 trap; mkfifo -m 0666 unused", "shared/unused",
             "file"},
        Trap{"Socket",
             "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"unused\")'; "
             "chmod 0666 unused",
             "shared/unused", "file"}),
    [](const auto& test) { return std::string(test.param.name); });

// A link of the user's own may lead to one of a stranger's.
TEST_F(SharedDirectoryTest, FollowsNoOtherUsersLinkBehindAnOwnOne) {
  Lay("ln -s ../victim/file trap");
  fs::create_symlink("shared/trap", File("own"));
  EXPECT_EQ(WriteReport(File("own")).exit_code, 3);
  ExpectNothingStolen();
}

TEST_F(SharedDirectoryTest, TakesWhatIsTheUsersOwn) {
  const std::string own = File("shared/own.json");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(WriteReport(own).exit_code, 0);  // new, and replaced
  fs::create_symlink("own.json", File("shared/link.json"));
  fs::create_directory_symlink("../victim", File("shared/directory"));
  EXPECT_EQ(WriteReport(File("shared/link.json")).exit_code, 0);
  EXPECT_EQ(WriteReport(File("shared/directory/new.json")).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(File("shared/link.json")));
  EXPECT_EQ(ReadFile(own), ReadFile(File("victim/new.json")));
  EXPECT_EQ(AddToHistory(File("shared/own.sqlite")).exit_code, 0);
  fs::create_symlink("own.sqlite", File("shared/link.sqlite"));
  const CommandResult again = AddToHistory(File("shared/link.sqlite"));
  EXPECT_THAT(again.standard_error, HasSubstr("there already: 1"));
}

// As the kernel: who has the directory has what is in it.
TEST_F(SharedDirectoryTest, TakesWhatIsTheDirectoryOwners) {
  Lay("ln -s ../victim/file trap");
  ASSERT_EQ(::chown(File("shared").c_str(), 65534, 65534), 0);
  EXPECT_EQ(WriteReport(File("shared/trap")).exit_code, 0);
  EXPECT_TRUE(fs::exists(File("victim/file")));
}

// SQLite would take what they hold for pages of the history, or write pages into them.
TEST_F(SharedDirectoryTest, KeepsOtherUsersJournalsFromAHistory) {
  const std::string history = File("shared/own.sqlite");
  ASSERT_EQ(AddToHistory(history).exit_code, 0);
  for (const std::string suffix : {"-journal", "-wal", "-shm"}) {
    Lay("umask 0; touch own.sqlite" + suffix);
    const CommandResult added = AddToHistory(history);
    EXPECT_EQ(added.exit_code, 2);
    EXPECT_THAT(added.standard_error, HasSubstr(history + ": the file beside it that ends in " +
                                                suffix + " is another user's"));
    EXPECT_NE(Leakgate({"history", "show", history}, kPatient).exit_code, 0);
    fs::remove(history + suffix);
  }
}

// What runs keep of debug information, in the user's cache.
class RunsCacheTest : public testing::Test {
 protected:
  // A run with findings, whose call sites are looked up.
  CommandResult RunAtHome() const {
    return RunCommand(
        Gated({FixturePath("kinds_untouched"), "--gtest_filter=Kinds.Malloc*"}),
        {.environment = {"HOME=" + home_, "XDG_CACHE_HOME="}, .timeout = std::chrono::seconds(60)});
  }
  std::vector<fs::path> Kept() const {
    std::vector<fs::path> kept;
    for (const auto& entry : fs::recursive_directory_iterator(home_)) {
      if (!entry.is_directory()) kept.push_back(entry.path());
    }
    return kept;
  }

  const TemporaryDirectory directory_;
  const std::string home_ = directory_.File("home");
};

// A runner of root's that has kept that user's HOME, as by sudo -E.
TEST_F(RunsCacheTest, OfRootIsNotWhereAnotherUsersHomeLeads) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user as well";
  ::chmod(directory_.path().c_str(), 0755);
  for (const char* const name : {"home", "victim", "victim/leakgate"}) {
    fs::create_directory(directory_.File(name));
    ::chmod(directory_.File(name).c_str(), 0755);
  }
  // More than a cache may have, and older than all that is new.
  const std::string precious = directory_.Write("victim/leakgate/precious", "text");
  fs::resize_file(precious, 70 << 20);
  fs::last_write_time(precious, fs::file_time_type::clock::now() - std::chrono::hours(1));
  fs::create_directory_symlink("../victim", home_ + "/.cache");
  for (const std::string& own : {home_, home_ + "/.cache"}) {
    ASSERT_EQ(::lchown(own.c_str(), 65534, 65534), 0);
  }
  EXPECT_EQ(RunAtHome().exit_code, 1);
  EXPECT_TRUE(fs::exists(precious));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_.File("victim/leakgate")),
                          fs::directory_iterator()),
            1);
}

TEST_F(RunsCacheTest, MayHaveFifosInTheWay) {
  fs::create_directory(home_);
  fs::permissions(home_, fs::perms::owner_all);
  EXPECT_EQ(RunAtHome().exit_code, 1);
  ASSERT_FALSE(Kept().empty());
  for (const fs::path& file : Kept()) {
    fs::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  }
  EXPECT_EQ(RunAtHome().exit_code, 1);
  for (const fs::path& file : Kept()) EXPECT_TRUE(fs::is_regular_file(file));
  for (const char* const name : {"/.cache/leakgate", "/.cache"}) {
    fs::remove_all(home_ + name);
    ASSERT_EQ(::mkfifo((home_ + name).c_str(), 0600), 0);
    EXPECT_EQ(RunAtHome().exit_code, 1);
  }
}

TEST(HistoryFileTest, IsNoFifo) {
  const TemporaryDirectory directory;
  const std::string fifo = directory.File("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string command : {"show", "trend"}) {
    const CommandResult shown = Leakgate({"history", command, fifo}, kPatient);
    EXPECT_EQ(shown.exit_code, 2);
    EXPECT_THAT(shown.standard_error, HasSubstr(fifo + ": not a regular file; name a history"));
  }
}

// What is open already is written to, whatever it is.
TEST(ReportPathTest, MayBeAStreamThatIsOpen) {
  const TemporaryDirectory directory;
  const std::string result = directory.Write("result.json", AReport());
  const std::string merge = "\"$0\" merge \"$1\" -o ";
  const auto written = [&](const std::string& rest) {
    return RunCommand({"bash", "-c", merge + rest, LeakgatePath(), result},
                      {.directory = directory.path(), .timeout = std::chrono::seconds(30)});
  };
  const CommandResult piped = written("/dev/stdout | cat");
  EXPECT_EQ(nlohmann::json::parse(piped.standard_output), nlohmann::json::parse(AReport()));
  EXPECT_EQ(written("/dev/stdout > to_file").exit_code, 0);
  EXPECT_EQ(ReadFile(directory.File("to_file")), piped.standard_output);
  EXPECT_EQ(written("/dev/fd/7 7> seven; rm -f link; ln -s /dev/stdout link").exit_code, 0);
  EXPECT_EQ(ReadFile(directory.File("seven")), piped.standard_output);
  EXPECT_EQ(written("link > through_link && test -L link").exit_code, 0);
  EXPECT_EQ(ReadFile(directory.File("through_link")), piped.standard_output);
  EXPECT_EQ(written("/dev/null && test -c /dev/null").exit_code, 0);
  EXPECT_THAT(written("/dev/stderr").standard_error, HasSubstr("\"schema\""));
  EXPECT_EQ(written("/proc/self/fd/1 | cat").standard_output, piped.standard_output);
}

}  // namespace
}  // namespace leakgate::test
