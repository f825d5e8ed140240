// `leakgate snapshot config|take|periodic`: snapshots of processes that run.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "tests/integration/launch_commands.h"
#include "tests/support/command.h"
#include "tests/support/heap_on_request.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using Json = nlohmann::json;

class TakeSnapshotsTest : public testing::Test {
 protected:
  ~TakeSnapshotsTest() override { Leakgate({"session", "stop", session_}); }

  // A name without an ending would be a directory's.
  std::string File(const std::string& name) const {
    const bool has_ending = name.find('.') != std::string::npos;
    return directory_.File(has_ending ? name : name + ".snapshot");
  }
  CommandResult Take(int pid, const std::string& path, const std::string& option = "") const {
    std::vector<std::string> arguments = {"snapshot",          "take", "--pid",
                                          std::to_string(pid), "-o",   path};
    if (!option.empty()) arguments.push_back(option);
    return Leakgate(arguments);
  }
  static Json Show(const std::string& path) {
    return Json::parse(Leakgate({"snapshot", "show", path, "--json"}).standard_output)["snapshot"];
  }

  const TemporaryDirectory directory_;
  const std::string session_ = "take-" + std::to_string(::getpid());
  HeapOnRequest program_{session_};  // starts the session, and itself below it
  int taken_ = 0;
};

TEST_F(TakeSnapshotsTest, HoldsWhatIsLive) {
  ASSERT_EQ(Take(program_.pid(), File("before")).exit_code, 0);
  program_.Keep(7, 100);
  program_.Keep(3, 10);
  program_.Drop(1);
  ASSERT_EQ(Take(program_.pid(), File("after")).exit_code, 0);

  const Json before = Show(File("before"));
  const Json after = Show(File("after"));
  EXPECT_EQ(after["live"]["blocks"].get<int>() - before["live"]["blocks"].get<int>(), 9);
  EXPECT_EQ(after["live"]["bytes"].get<int>() - before["live"]["bytes"].get<int>(), 720);
}

TEST_F(TakeSnapshotsTest, NamesTheCallSite) {
  program_.Keep(7, 100);
  ASSERT_EQ(Take(program_.pid(), File("a")).exit_code, 0);
  const CommandResult shown = Leakgate({"snapshot", "show", File("a")});
  EXPECT_THAT(shown.standard_output, HasSubstr("Keep"));
  EXPECT_THAT(shown.standard_output, HasSubstr("heap_on_request.cpp:"));
}

TEST_F(TakeSnapshotsTest, DoesNotStopTheProcessForGood) {
  ASSERT_EQ(Take(program_.pid(), File("a")).exit_code, 0);
  program_.Keep(1, 1);
  const CommandResult consistent = Take(program_.pid(), File("b"), "--consistent");
  EXPECT_EQ(consistent.exit_code, 0) << consistent.standard_error;
  EXPECT_THAT(consistent.standard_error, ContainsRegex("it was stopped for [0-9.]+ ms"));
  program_.Keep(1, 1);
  EXPECT_EQ(program_.End(), 0);
}

TEST_F(TakeSnapshotsTest, TakesThemOfAProcessThatHasEnded) {
  program_.Keep(5, 50);
  const int pid = program_.pid();
  EXPECT_EQ(program_.End(), 0);
  ASSERT_EQ(Take(pid, File("a")).exit_code, 0);
  EXPECT_GE(Show(File("a"))["live"]["bytes"], 250);
}

// A server without tests: what it has allocated when is told by the ring of snapshots.
TEST_F(TakeSnapshotsTest, TellsAgesByEarlierOnes) {
  const std::string pid = std::to_string(program_.pid());
  const auto take = [&] {
    ASSERT_EQ(Leakgate({"snapshot", "periodic", "--pid", pid, "--every", "10ms", "--stop-after",
                        "1", "-o", directory_.path()})
                  .exit_code,
              0);
    std::filesystem::rename(File("heap_on_request-" + pid + "-0001.snapshot"),
                            File(std::to_string(++taken_) + ".snapshot"));
  };
  program_.Keep(5, 1000);
  take();
  program_.Keep(3, 1000);
  take();
  program_.Keep(2, 1000);
  program_.Drop(1);
  ASSERT_EQ(Take(program_.pid(), File("now")).exit_code, 0);
  const Json shown =
      Json::parse(Leakgate({"snapshot", "show", File("now"), "--group-by", "age", "--since",
                            directory_.path(), "--filter", "*Keep*", "--json"})
                      .standard_output);
  std::map<std::string, long> bytes;
  for (const Json& row : shown["tables"][0]["rows"]) bytes[row["place"]] = row["bytes"];
  EXPECT_EQ(bytes["in 1.snapshot already"], 5000);
  EXPECT_EQ(bytes["first in 2.snapshot"], 3000);
  EXPECT_EQ(bytes["not in 2.snapshot"], 1000);
}

TEST_F(TakeSnapshotsTest, ChoosesANameThatIsNotTaken) {
  const CommandOptions there{.directory = directory_.path()};
  const std::vector<std::string> take = {"snapshot", "take", "--pid",
                                         std::to_string(program_.pid())};
  ASSERT_EQ(Leakgate(take, there).exit_code, 0);
  ASSERT_EQ(Leakgate(take, there).exit_code, 0);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    names.push_back(entry.path().filename());
  }
  ASSERT_THAT(names, SizeIs(2));
  for (const std::string& name : names) {
    EXPECT_THAT(name, AllOf(HasSubstr("heap_on_request-" + std::to_string(program_.pid())),
                            testing::EndsWith(".snapshot")));
  }
}

TEST_F(TakeSnapshotsTest, TellsGrowthAndKeepsTheNewest) {
  const CommandResult periodic =
      Leakgate({"snapshot", "periodic", "--pid", std::to_string(program_.pid()), "--every", "20ms",
                "--stop-after", "4", "--count", "2", "-o", directory_.path()});
  EXPECT_EQ(periodic.exit_code, 0) << periodic.standard_error;
  const std::string& lines = periodic.standard_output;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 4);
  EXPECT_THAT(lines, ContainsRegex("live +.0 B .+0 blocks.  .*-0002.snapshot\n"));
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    const std::string name = entry.path().filename();
    names.push_back(name.substr(name.size() - std::string("0004.snapshot").size()));
  }
  std::sort(names.begin(), names.end());
  EXPECT_THAT(names, ElementsAre("0003.snapshot", "0004.snapshot"));
}

TEST_F(TakeSnapshotsTest, SaysThatNobodyTracesTheProcess) {
  const CommandResult result = Take(::getpid(), File("a"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.standard_error,
              HasSubstr("no session and no run traces PID " + std::to_string(::getpid())));
}

TEST_F(TakeSnapshotsTest, SaysThatThereIsNoSuchProcess) {
  const std::string none = std::to_string(1 << 30);  // more than the kernel gives out
  for (const std::string& command : {std::string("take"), std::string("config")}) {
    std::vector<std::string> arguments = {"snapshot", command, "--pid", none};
    if (command == "config") arguments.emplace_back("query");
    const CommandResult result = Leakgate(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.standard_error, testing::AnyOf(HasSubstr("there is no such process"),
                                                      HasSubstr("there is no process with PID")));
  }
  const CommandResult twice = Leakgate({"snapshot", "take", "--pid", "1", "--pid", "2"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.standard_error,
              HasSubstr("--pid is given 2 times, and takes one value; leave the others out"));
}

TEST_F(TakeSnapshotsTest, SaysThatAFileCannotBeWritten) {
  const CommandResult file = Take(program_.pid(), "/proc/no/a.snapshot");
  EXPECT_NE(file.exit_code, 0);
  EXPECT_THAT(file.standard_error, HasSubstr("/proc/no/a.snapshot"));
  const CommandResult directory = Take(program_.pid(), "/proc/no/a");
  EXPECT_EQ(directory.exit_code, 2);
  EXPECT_THAT(directory.standard_error,
              HasSubstr("-o /proc/no/a: no directory can be made there: "));
}

TEST_F(TakeSnapshotsTest, MakeTheDirectoryThatIsNamed) {
  ASSERT_EQ(Take(program_.pid(), directory_.File("deep/one")).exit_code, 0);
  ASSERT_EQ(Take(program_.pid(), directory_.File("deep/one")).exit_code, 0);
  const auto files = std::filesystem::directory_iterator(directory_.File("deep/one"));
  EXPECT_EQ(std::distance(begin(files), end(files)), 2);
}

TEST_F(TakeSnapshotsTest, ReplaceNoFile) {
  directory_.Write("ours.snapshot", "ours");
  directory_.Write("ours.txt", "ours");
  for (const std::string& file : {File("ours.snapshot"), File("ours.txt")}) {
    const CommandResult taken = Take(program_.pid(), file);
    EXPECT_EQ(taken.exit_code, 2);
    EXPECT_THAT(taken.standard_error, HasSubstr("-o " + file + ": exists already; remove it, or"));
    EXPECT_EQ(ReadFile(file), "ours");
    const CommandResult stopped = Leakgate({"session", "stop", session_, "-o", file});
    EXPECT_EQ(stopped.exit_code, 2);
    EXPECT_THAT(
        stopped.standard_error,
        AllOf(HasSubstr("exists already"), HasSubstr(". The session '" + session_ + "' goes on")));
    EXPECT_EQ(ReadFile(file), "ours");
  }
}

TEST_F(TakeSnapshotsTest, NumberOnBehindAnEarlierSeries) {
  const std::string pid = std::to_string(program_.pid());
  const std::vector<std::string> periodic = {
      "snapshot",     "periodic", "--pid", pid, "--every", "10ms", "-o", directory_.File("ring"),
      "--stop-after", "2"};
  ASSERT_EQ(Leakgate(periodic).exit_code, 0);
  const std::string first = "ring/heap_on_request-" + pid + "-0001.snapshot";
  const std::string before = ReadFile(directory_.File(first));
  const CommandResult again = Leakgate(periodic);
  ASSERT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.standard_output,
              AllOf(HasSubstr("-0003.snapshot"), HasSubstr("-0004.snapshot")));
  EXPECT_EQ(ReadFile(directory_.File(first)), before);

  const CommandResult one = Leakgate(
      {"snapshot", "periodic", "--pid", pid, "--every", "10ms", "-o", File("one.snapshot")});
  EXPECT_EQ(one.exit_code, 2);
  EXPECT_THAT(one.standard_error, HasSubstr("a file takes one snapshot; name a directory"));
}

TEST_F(TakeSnapshotsTest, AreTakenOfAllAsTheSessionStops) {
  program_.Keep(5, 50);
  EXPECT_EQ(Leakgate({"session", "exec", session_, "--", FixturePath("heap_on_request")}).exit_code,
            0);
  const CommandResult one = Leakgate({"session", "stop", session_, "-o", File("one")});
  EXPECT_EQ(one.exit_code, 2);
  EXPECT_THAT(one.standard_error,
              AllOf(HasSubstr("has 2 processes, and a file takes one; name a directory"),
                    HasSubstr(". The session '" + session_ + "' goes on")));
  const std::string all = directory_.File("all");
  EXPECT_EQ(Leakgate({"session", "stop", session_, "-o", all}).exit_code, 0);
  const auto files = std::filesystem::directory_iterator(all);
  EXPECT_EQ(std::distance(begin(files), end(files)), 2);
}

TEST_F(TakeSnapshotsTest, AreEnabledAndDisabledByName) {
  const std::string session = session_ + "-config";
  const auto config = [&](const std::string& setting) {
    return Leakgate(
        {"snapshot", "config", "--image", "heap_on_request", "--session", session, setting});
  };
  EXPECT_THAT(config("query").standard_output, HasSubstr("heap_on_request: enabled, in"));
  const CommandResult enabled = config("enable");
  EXPECT_EQ(enabled.exit_code, 0) << enabled.standard_error;
  EXPECT_THAT(enabled.standard_error,
              HasSubstr("start it: leakgate session exec " + session + " -- COMMAND"));
  EXPECT_THAT(config("query").standard_output, HasSubstr("in the session " + session + "\n"));
  EXPECT_EQ(config("disable").exit_code, 0);
  EXPECT_EQ(Leakgate({"session", "query", session}).exit_code, 2);  // it went with its last
}

TEST_F(TakeSnapshotsTest, OfWhatIsNamedNoMoreStayAndGoOn) {
  program_.Keep(5, 50);
  const CommandResult disabled = Leakgate(
      {"snapshot", "config", "--image", "heap_on_request", "--session", session_, "disable"});
  EXPECT_EQ(disabled.exit_code, 0);
  EXPECT_THAT(disabled.standard_error, HasSubstr("keeps what its processes have recorded"));
  program_.Keep(5, 50);
  EXPECT_THAT(Leakgate({"session", "query", session_}).standard_output,
              AllOf(HasSubstr("traces nothing that starts later"), HasSubstr("  tracing  ")));
  ASSERT_EQ(Take(program_.pid(), File("a")).exit_code, 0);
  EXPECT_GE(Show(File("a"))["live"]["bytes"], 500);
  EXPECT_EQ(Leakgate({"session", "exec", session_, "--", FixturePath("heap_on_request")}).exit_code,
            0);
  const Json query =
      Json::parse(Leakgate({"session", "query", session_, "--json"}).standard_output);
  EXPECT_THAT(query["processes"], SizeIs(1));
}

TEST_F(TakeSnapshotsTest, FindSymbolsInARelativeDirectory) {
  const std::string session = session_ + "-symbols";
  std::filesystem::copy_file(FixturePath("heap_on_request"), directory_.File("moved"));
  ASSERT_EQ(Leakgate({"session", "start", session, "--image", "moved"}).exit_code, 0);
  ASSERT_EQ(Leakgate({"session", "exec", session, "--", directory_.File("moved")},
                     {.standard_input = "keep 7 100\n"})
                .exit_code,
            0);
  ASSERT_EQ(Leakgate({"session", "stop", session, "-o", File("a")}).exit_code, 0);
  std::filesystem::create_directory(directory_.File("symbols"));
  std::filesystem::rename(directory_.File("moved"), directory_.File("symbols/moved"));
  const CommandOptions there{.directory = directory_.path()};
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"snapshot", "show", "a.snapshot", "--symbols", "symbols"},
        std::vector<std::string>{"snapshot", "diff", "a.snapshot", "a.snapshot", "--symbols",
                                 "symbols"}}) {
    const CommandResult shown = Leakgate(command, there);
    EXPECT_EQ(shown.exit_code, 0);
    EXPECT_THAT(shown.standard_output, testing::Not(HasSubstr("no symbols")));
  }
  EXPECT_THAT(
      Leakgate({"snapshot", "show", "a.snapshot", "--symbols", "symbols"}, there).standard_output,
      HasSubstr("heap_on_request.cpp:"));
}

// The user's own, which nobody reads: it waits for a reader, and for no longer than it may.
TEST_F(TakeSnapshotsTest, EndWhenAskedToThoughNobodyReadsTheFifo) {
  const std::string pid = std::to_string(program_.pid());
  const std::string fifo = File("heap_on_request-" + pid + "-0001.snapshot");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  RunningCommand periodic({LeakgatePath(), "snapshot", "periodic", "--pid", pid, "-o",
                           directory_.path(), "--every", "1"});
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_FALSE(IsGone(periodic.pid()));
  ::kill(periodic.pid(), SIGTERM);
  for (int i = 0; i < 3000 && !IsGone(periodic.pid()); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(IsGone(periodic.pid()));
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
}

}  // namespace
}  // namespace leakgate::test
