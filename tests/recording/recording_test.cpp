// Recordings of real programs: what the file says of each allocation, held against what the process
// has counted itself.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>

#include "runner/recording/file/read_recording.h"
#include "tests/support/heap_on_request.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Sums {
  std::uint64_t allocated_bytes = 0;
  std::uint64_t allocated_blocks = 0;
  std::uint64_t freed_bytes = 0;
  std::uint64_t freed_blocks = 0;
};

// What is known of an address.
struct Block {
  std::deque<std::uint64_t> sizes;  // of blocks that are live
  int frees = 0;                    // of blocks that nobody has allocated yet
};

struct Recorded {
  std::string error;
  RecordingFacts facts;
  RecordingClosing closing;
  Sums sums;
  std::map<std::uint64_t, Block> live;
  std::map<std::uint32_t, SnapshotWindow> windows;
  std::map<RecordedKind, int> kinds;
  std::vector<std::string> marks;

  // Frees of blocks that nobody has allocated.
  int UnknownFrees() const {
    int frees = 0;
    for (const auto& [address, block] : live) frees += block.frees;
    return frees;
  }
};

void Allocate(std::uint64_t address, std::uint64_t bytes, Recorded& recorded) {
  ++recorded.sums.allocated_blocks;
  recorded.sums.allocated_bytes += bytes;
  Block& block = recorded.live[address];
  block.sizes.push_back(bytes);
}

// The n-th free at an address belongs to the n-th allocation there, also where another thread's
// free comes a little too early.
void Settle(Block& block, Recorded& recorded) {
  while (block.frees > 0 && !block.sizes.empty()) {
    --block.frees;
    ++recorded.sums.freed_blocks;
    recorded.sums.freed_bytes += block.sizes.front();
    block.sizes.pop_front();
  }
}

void Count(const RecordedEvent& event, Recorded& recorded) {
  ++recorded.kinds[event.kind];
  if (event.kind == RecordedKind::kRestore) {
    recorded.sums.freed_bytes -= event.size_bytes;
    --recorded.sums.freed_blocks;
    recorded.live[event.address].sizes.push_back(event.size_bytes);
  } else if (event.kind == RecordedKind::kAllocate) {
    Allocate(event.address, event.size_bytes, recorded);
    Settle(recorded.live[event.address], recorded);
  } else if (event.kind == RecordedKind::kFree) {
    Block& block = recorded.live[event.address];
    ++block.frees;
    Settle(block, recorded);
  }
}

Recorded Read(const std::string& file) {
  Recorded recorded;
  RecordingVisitor visitor;
  visitor.facts = [&](RecordingFacts&& facts) { recorded.facts = std::move(facts); };
  visitor.window = [&](SnapshotWindow&& window) { recorded.windows[window.id] = window; };
  visitor.mark = [&](std::string&& name) { recorded.marks.push_back(std::move(name)); };
  visitor.blocks = [&](std::span<const LiveBlock> blocks) -> Expected<void> {
    for (const LiveBlock& block : blocks)
      recorded.live[block.address].sizes.push_back(block.size_bytes);
    return {};
  };
  visitor.events = [&](std::span<const RecordedEvent> events) -> Expected<void> {
    for (const RecordedEvent& event : events) Count(event, recorded);
    return {};
  };
  visitor.closing = [&](RecordingClosing&& closing) { recorded.closing = std::move(closing); };
  const Expected<void> read = ReadRecording(file, visitor);
  if (!read) recorded.error = read.error().message;
  return recorded;
}

CommandResult Record(const std::vector<std::string>& options, std::vector<std::string> program) {
  std::vector<std::string> command = {LeakgatePath(), "record"};
  command.insert(command.end(), options.begin(), options.end());
  command.emplace_back("--");
  command.insert(command.end(), program.begin(), program.end());
  return RunCommand(command);
}

class RecordingTest : public testing::Test {
 protected:
  std::string File(const std::string& name) const { return directory_.File(name); }

  // What is in the file is what the process has counted.
  static void ExpectExact(const Recorded& recorded) {
    EXPECT_EQ(recorded.error, "");
    EXPECT_THAT(recorded.closing.missing, IsEmpty());
    const Totals& counted = recorded.closing.process.since_begin;
    EXPECT_EQ(recorded.sums.allocated_blocks, counted.allocated_blocks);
    EXPECT_EQ(recorded.sums.allocated_bytes, counted.allocated_bytes);
    EXPECT_EQ(recorded.sums.freed_blocks, counted.freed_blocks);
    EXPECT_EQ(recorded.sums.freed_bytes, counted.freed_bytes);
    EXPECT_EQ(recorded.UnknownFrees(), 0);
    EXPECT_GT(recorded.sums.allocated_blocks, 0U);
  }

  TemporaryDirectory directory_;
};

TEST_F(RecordingTest, HasAllThatASuiteAllocatesAndFreesByTest) {
  const CommandResult result = Record({"-o", File("a")}, {FixturePath("kinds_untouched")});
  EXPECT_THAT(result.standard_error, HasSubstr("look at it:  leakgate recording show"));
  const Recorded recorded = Read(File("a"));
  ExpectExact(recorded);
  std::vector<std::string> tests;
  for (const auto& [id, window] : recorded.windows) {
    if (window.kind == WindowKind::kTest) tests.push_back(window.name);
  }
  EXPECT_THAT(tests, Not(IsEmpty()));
  EXPECT_EQ(recorded.kinds.at(RecordedKind::kWindowEnds),
            static_cast<int>(recorded.windows.size()) - 1);
}

TEST_F(RecordingTest, HasTheEventsOfManyThreadsInOrder) {
  for (const char* const stacks : {"alloc,realloc", "alloc,realloc,free"}) {
    const std::string file = File(stacks);
    Record({"-o", file, "--stacks", stacks, "--buffer-size", "4K", "--buffers", "6"},
           {FixturePath("recorded_threads")});
    const Recorded recorded = Read(file);
    ExpectExact(recorded);
    EXPECT_GT(recorded.sums.allocated_blocks, 100'000U);
    EXPECT_EQ(recorded.kinds.at(RecordedKind::kThreadBegins),
              recorded.kinds.at(RecordedKind::kThreadEnds));  // the main one had begun before
  }
}

// Each thread keeps a buffer, also while it sleeps: others must not wait for it.
TEST_F(RecordingTest, HasAllEventsOfMoreThreadsThanBuffers) {
  for (const char* const buffers : {"1", "3"}) {
    const std::string file = File(buffers);
    const CommandResult result =
        Record({"-o", file, "--buffer-size", "4K", "--buffers", buffers},
               {"/usr/bin/python3", "-c",
                "import threading\n"
                "e = threading.Event()\n"
                "def work():\n"
                "  kept = [bytes(1000 + i) for i in range(300)]\n"
                "  e.wait()\n"
                "all = [threading.Thread(target=work) for i in range(60)]\n"
                "for t in all: t.start()\n"
                "e.set()\n"
                "for t in all: t.join()"});
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    ExpectExact(Read(file));
  }
}

std::uint64_t WrittenEvents(const Recorded& recorded) {
  std::uint64_t written = 0;
  for (const auto& [kind, count] : recorded.kinds) {
    // Whose window it is goes with an allocation, and is no event of the program's.
    if (kind == RecordedKind::kLost || kind == RecordedKind::kWindowChanges) continue;
    written += static_cast<std::uint64_t>(count);
  }
  return written;
}

// What is lost, and what is there, is all that the program does.
TEST_F(RecordingTest, CountsEachEventThatIsLost) {
  Record({"-o", File("whole")}, {FixturePath("recorded_threads")});
  const CommandResult result =
      Record({"-o", File("a"), "--when-full", "lose", "--buffer-size", "4K", "--buffers", "2"},
             {FixturePath("recorded_threads")});
  EXPECT_EQ(result.exit_code, 0);
  const Recorded recorded = Read(File("a"));
  EXPECT_EQ(recorded.error, "");
  ASSERT_GT(recorded.closing.lost_events, 0U);
  EXPECT_THAT(recorded.closing.missing, Contains(HasSubstr("events were lost")));
  EXPECT_THAT(result.standard_error, HasSubstr("incomplete: "));
  EXPECT_EQ(WrittenEvents(recorded) + recorded.closing.lost_events,
            WrittenEvents(Read(File("whole"))));
}

TEST_F(RecordingTest, HasTheMarksThatTheProgramSets) {
  Record({"-o", File("a")}, {FixturePath("recorded_threads")});
  const Recorded recorded = Read(File("a"));
  EXPECT_THAT(recorded.marks, ElementsAre("threads begin", "threads have ended"));
  EXPECT_EQ(recorded.kinds.at(RecordedKind::kMark), 2);
}

TEST_F(RecordingTest, PassesTheProgramsExitCodeOn) {
  EXPECT_EQ(Record({"-o", File("a")}, {"/bin/sh", "-c", "exit 7"}).exit_code, 7);
  EXPECT_EQ(Record({"-o", File("b")}, {"/bin/sh", "-c", "kill -9 $$"}).exit_code, 128 + SIGKILL);
}

// What threads had written when it was killed is there.
TEST_F(RecordingTest, KeepsAllOfAProgramThatIsKilled) {
  const CommandResult result = Record(
      {"-o", File("a")}, {"/usr/bin/python3", "-c",
                          "import os, signal\nkept = [bytes(1000 + i) for i in range(2000)]\n"
                          "os.kill(os.getpid(), signal.SIGKILL)"});
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  ExpectExact(Read(File("a")));
}

TEST_F(RecordingTest, NamesTheFileAfterTheProgramThatIsExecutedLast) {
  const CommandResult result =
      Record({"-o", File("a")}, {"/bin/sh", "-c", "exec " + FixturePath("recorded_threads")});
  EXPECT_EQ(result.exit_code, 0);
  ExpectExact(Read(File("a")));
  EXPECT_EQ(Read(File("a.before1")).error, "");
  EXPECT_THAT(result.standard_error, HasSubstr("1 program ran in its process before: see"));
}

TEST_F(RecordingTest, ReplacesNoFileUnasked) {
  const std::string file = directory_.Write("a", "mine");
  const CommandResult refused = Record({"-o", file}, {"/bin/true"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(
      refused.standard_error,
      "leakgate: " + file + ": is there already; name another file, or replace it with --force\n");
  EXPECT_EQ(ReadFile(file), "mine");
  EXPECT_EQ(Record({"-o", file, "--force"}, {"/bin/true"}).exit_code, 0);
  EXPECT_EQ(Read(file).error, "");
}

TEST_F(RecordingTest, TellsWhatIsWrongBeforeAnythingRuns) {
  const std::string witness = File("ran");
  const std::vector<std::string> program = {"/bin/touch", witness};
  EXPECT_EQ(Record({"-o", "/no/such/folder/a"}, program).exit_code, 2);
  EXPECT_EQ(Record({"-o", File("a"), "--buffer-size", "2"}, program).exit_code, 2);
  EXPECT_EQ(
      Record({"-o", File("a"), "--buffers", "4096", "--buffer-size", "1M"}, program).exit_code, 2);
  EXPECT_EQ(Record({}, program).exit_code, 2);
  EXPECT_EQ(Record({"-o", File("a")}, {"/no/such/program"}).exit_code, 2);
  EXPECT_FALSE(fs::exists(witness));
  EXPECT_FALSE(fs::exists(File("a")));
}

// What is of no use to the user is not kept: all that was written before is.
TEST_F(RecordingTest, KeepsWhatWasWrittenWhenTheRecorderIsKilled) {
  const std::string script =
      "\"$LEAKGATE\" record -o \"$FILE\" -- /usr/bin/python3 -c '" + std::string("import time\n") +
      "kept = [bytes(1000 + i) for i in range(2000)]\n"
      "print(flush=True)\ntime.sleep(100)' > \"$FILE.said\" & "
      "until [ -s \"$FILE.said\" ]; do sleep 0.1; done; sleep 1; kill -9 $!; wait";
  RunCommand({"bash", "-c", script},
             {.environment = {"LEAKGATE=" + LeakgatePath(), "FILE=" + File("a")}});
  const Recorded recorded = Read(File("a"));
  EXPECT_EQ(recorded.error, "");
  EXPECT_THAT(recorded.closing.missing, Contains(HasSubstr("was cut off")));
  EXPECT_GT(recorded.sums.allocated_blocks, 2000U);
}

// The program goes on, and the file is read up to where the disk was full.
TEST_F(RecordingTest, EndsWithTheRoomOnTheDisk) {
  const std::string script =
      "mount -t tmpfs -o size=64k none \"$DISK\" || exit 99\n"
      "\"$LEAKGATE\" record -o \"$DISK/a\" --buffers 4 -- \"$PROGRAM\"; code=$?\n"
      "cp \"$DISK/a\" \"$DISK.kept\"; exit $code";
  const std::string disk = File("disk");
  fs::create_directory(disk);
  const CommandResult result =
      RunCommand({"unshare", "--mount", "--propagation", "private", "bash", "-c", script},
                 {.environment = {"DISK=" + disk, "LEAKGATE=" + LeakgatePath(),
                                  "PROGRAM=" + FixturePath("recorded_threads")}});
  if (result.exit_code == 99) GTEST_SKIP() << "nothing can be mounted here";
  EXPECT_EQ(result.exit_code, 3) << result.standard_error;
  EXPECT_THAT(result.standard_error, HasSubstr("No space left on device"));
  const Recorded recorded = Read(disk + ".kept");
  EXPECT_EQ(recorded.error, "");
  EXPECT_THAT(recorded.closing.missing, Contains(HasSubstr("was cut off")));
}

// A process that runs already, recorded by PID and steered from other shells.
class RecordingOfRunningTest : public RecordingTest {
 protected:
  ~RecordingOfRunningTest() override { Leakgate({"session", "stop", "record-" + pid()}); }

  std::string pid() const { return std::to_string(program_.pid()); }
  CommandResult Steer(const std::string& what) const {
    return Leakgate({"recording", what, "--pid", pid()});
  }
  // Records it while `script` runs in a shell.
  CommandResult RecordDuring(const std::string& script) const {
    const std::string all =
        "\"$LEAKGATE\" record --pid $PID -o \"$FILE\" > /dev/null 2> \"$FILE.said\" & "
        "until grep -q recording \"$FILE.said\"; do sleep 0.05; done\n" +
        script + "\nwait $!";
    return RunCommand({"bash", "-c", all}, {.environment = {"LEAKGATE=" + LeakgatePath(),
                                                            "FILE=" + File("a"), "PID=" + pid()}});
  }

  HeapOnRequest program_;  // without leakgate
};

TEST_F(RecordingOfRunningTest, EndsWhenAnotherShellStopsIt) {
  program_.Keep(100, 1000);
  RecordDuring("\"$LEAKGATE\" recording stop --pid $PID");
  EXPECT_THAT(ReadFile(File("a.said")), HasSubstr("look at it:  leakgate recording show"));
  const Recorded recorded = Read(File("a"));
  EXPECT_EQ(recorded.error, "");
  EXPECT_THAT(recorded.closing.missing, IsEmpty());
  program_.Keep(1, 10);  // it goes on
  EXPECT_EQ(recorded.facts.when_full, WhenFull::kLose);
}

TEST_F(RecordingOfRunningTest, EndsWhenItsSessionIsStopped) {
  program_.Keep(1, 10);
  EXPECT_EQ(RecordDuring("\"$LEAKGATE\" session stop record-$PID 2> /dev/null").exit_code, 0);
  EXPECT_THAT(ReadFile(File("a.said")), HasSubstr("look at it:  leakgate recording show"));
  EXPECT_THAT(Read(File("a")).closing.missing, IsEmpty());
}

TEST_F(RecordingOfRunningTest, EndsWhenWhoeverRecordsIsKilled) {
  const CommandResult result = RecordDuring(
      "kill -9 $(\"$LEAKGATE\" session query record-$PID | sed -n 's/.*owner PID "
      "\\([0-9]*\\).*/\\1/p')");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(ReadFile(File("a.said")), HasSubstr("whoever recorded has been killed"));
  EXPECT_THAT(Read(File("a")).closing.missing, Contains(HasSubstr("was cut off")));
  Leakgate({"session", "list", "--clear"});
}

TEST_F(RecordingOfRunningTest, IsRefusedWhereAnotherRecordingHasTheProcess) {
  RecordDuring(
      "\"$LEAKGATE\" record --pid $PID -o \"$FILE.too\" 2> \"$FILE.refused\"; echo $? > "
      "\"$FILE.code\"\n"
      "\"$LEAKGATE\" recording stop --pid $PID");
  EXPECT_EQ(ReadFile(File("a.code")), "3\n");
  EXPECT_THAT(ReadFile(File("a.refused")),
              HasSubstr("PID " + pid() + " is traced already, by leakgate with PID"));
  EXPECT_FALSE(fs::exists(File("a.too")));
}

TEST_F(RecordingOfRunningTest, LeavesNoSessionBehindIfItIsEndedAsItBegins) {
  for (int milliseconds = 0; milliseconds < 200; milliseconds += 10) {
    const std::string file = File("ended-" + std::to_string(milliseconds));
    RunCommand({"bash", "-c",
                "\"$LEAKGATE\" record --pid $PID -o \"$FILE\" & sleep $LATER; kill $!; wait $!"},
               {.environment = {"LEAKGATE=" + LeakgatePath(), "FILE=" + file, "PID=" + pid(),
                                "LATER=" + std::to_string(milliseconds / 1000.0)}});
    EXPECT_EQ(Leakgate({"session", "query", "record-" + pid()}).exit_code, 2) << milliseconds;
  }
}

TEST_F(RecordingTest, BeginsWithAProgramThatIsSuspendedAtItsFirstInstruction) {
  HeapOnRequest program(Suspended::kAtFirstInstruction);
  const std::string pid = std::to_string(program.pid());
  const std::vector<std::string> environment = {"LEAKGATE=" + LeakgatePath(), "FILE=" + File("a"),
                                                "PID=" + pid};
  RunCommand({"bash", "-c",
              "\"$LEAKGATE\" record --pid $PID -o \"$FILE\" > /dev/null 2> \"$FILE.said\" & "
              "until grep -q recording \"$FILE.said\"; do sleep 0.05; done; sleep 0.5"},
             {.environment = environment});
  program.Resume();
  program.Keep(100, 10);
  EXPECT_EQ(program.End(), 0);
  RunCommand(
      {"bash", "-c",
       "for i in $(seq 300); do grep -q 'look at it' \"$FILE.said\" && break; sleep 0.1; done"},
      {.environment = environment});
  const Recorded recorded = Read(File("a"));
  EXPECT_EQ(recorded.error, "");
  EXPECT_THAT(recorded.closing.missing, IsEmpty());
  EXPECT_GE(recorded.sums.allocated_blocks, 100U);
}

TEST_F(RecordingOfRunningTest, SaysThatItWasSwitchedOff) {
  RecordDuring(
      "\"$LEAKGATE\" recording pause --pid $PID\nsleep 0.5\n"
      "\"$LEAKGATE\" recording continue --pid $PID\nsleep 0.5\n"
      "\"$LEAKGATE\" recording stop --pid $PID");
  const Recorded recorded = Read(File("a"));
  EXPECT_EQ(recorded.error, "");
  EXPECT_EQ(recorded.kinds.count(RecordedKind::kPause), 1U);
  EXPECT_EQ(recorded.kinds.count(RecordedKind::kContinue), 1U);
  EXPECT_THAT(recorded.closing.missing, Contains(HasSubstr("was switched off for a while")));
}

TEST_F(RecordingOfRunningTest, IsNoneIfTheProcessIsOnlyTraced) {
  ASSERT_EQ(Leakgate({"session", "start", "record-" + pid(), "--pid", pid()}).exit_code, 0);
  const CommandResult result = Steer("pause");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.standard_error, HasSubstr("PID " + pid() + " is traced, but not recorded"));
}

TEST_F(RecordingTest, HasAFileForEachProcessOfASession) {
  const std::string session = "recorded-" + std::to_string(::getpid());
  const std::string directory = File("all");
  ASSERT_EQ(Leakgate({"session", "start", session, "--image", "recorded_threads", "--record",
                      directory, "--when-full", "wait"})
                .exit_code,
            0);
  for (int i = 0; i < 2; ++i) {
    Leakgate({"session", "exec", session, "--", FixturePath("recorded_threads")});
  }
  const CommandResult stopped = Leakgate({"session", "stop", session});
  EXPECT_EQ(stopped.exit_code, 0);
  int files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    ++files;
    EXPECT_THAT(stopped.standard_error, HasSubstr(entry.path().string()));
    ExpectExact(Read(entry.path().string()));
  }
  EXPECT_EQ(files, 2);
}

std::vector<std::string> FilesIn(const std::string& directory) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The file of a test has what it allocated, and what was live before: nothing else is freed in it.
TEST_F(RecordingTest, KeepsAFileOfEachTestThatIsOverBudget) {
  const std::string directory = File("tests");
  const CommandResult result =
      Leakgate({"run", "--record", directory, "--", FixturePath("kinds_untouched")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, HasSubstr("did: leakgate recording show " + directory));
  const std::vector<std::string> files = FilesIn(directory);
  ASSERT_THAT(files, Not(IsEmpty()));
  for (const std::string& file : files) {
    const Recorded recorded = Read(file);
    EXPECT_EQ(recorded.error, "");
    EXPECT_NE(recorded.facts.test, "");
    EXPECT_THAT(file, HasSubstr(recorded.facts.test.substr(0, 5)));
    EXPECT_EQ(recorded.UnknownFrees(), 0) << file;
    EXPECT_EQ(recorded.kinds.count(RecordedKind::kPause), 0U);
  }
}

TEST_F(RecordingTest, KeepsAFileOfEveryTestIfAsked) {
  const std::string directory = File("tests");
  Leakgate({"run", "--record", directory, "--when", "every", "--warn-only", "--",
            FixturePath("kinds_untouched")});
  const Recorded whole = [&] {
    Record({"-o", File("whole")}, {FixturePath("kinds_untouched")});
    return Read(File("whole"));
  }();
  std::size_t tests = 0;
  for (const auto& [id, window] : whole.windows) tests += window.kind == WindowKind::kTest ? 1 : 0;
  EXPECT_EQ(FilesIn(directory).size(), tests);
  EXPECT_GT(tests, 3U);
}

}  // namespace
}  // namespace leakgate::test
