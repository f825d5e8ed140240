// Recordings of real programs: what the file says of each allocation, held against what the process
// has counted itself.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "runner/recording/file/read_recording.h"
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

struct Recorded {
  std::string error;
  RecordingFacts facts;
  RecordingClosing closing;
  Sums sums;
  std::uint64_t unknown_frees = 0;  // of blocks that nobody has allocated
  std::map<std::uint64_t, std::uint64_t> live;
  std::map<std::uint32_t, SnapshotWindow> windows;
  std::map<std::uint32_t, Sums> allocated_in;  // by window
  std::map<RecordedKind, int> kinds;
  std::vector<std::string> marks;
  std::uint64_t last_time = 0;
  int steps_back = 0;  // where an event is more than a microsecond before the last one
};

void Count(const RecordedEvent& event, Recorded& recorded) {
  ++recorded.kinds[event.kind];
  if (event.time_ns + 1000 < recorded.last_time) ++recorded.steps_back;
  recorded.last_time = std::max(recorded.last_time, event.time_ns);
  if (event.kind == RecordedKind::kRestore) {
    recorded.sums.freed_bytes -= event.size_bytes;
    --recorded.sums.freed_blocks;
    recorded.live[event.address] = event.size_bytes;
  } else if (event.kind == RecordedKind::kAllocate) {
    recorded.sums.allocated_bytes += event.size_bytes;
    ++recorded.sums.allocated_blocks;
    recorded.live[event.address] = event.size_bytes;
    recorded.allocated_in[event.window].allocated_bytes += event.size_bytes;
    ++recorded.allocated_in[event.window].allocated_blocks;
  } else if (event.kind == RecordedKind::kFree) {
    const auto block = recorded.live.find(event.address);
    if (block == recorded.live.end()) {
      ++recorded.unknown_frees;
      return;
    }
    recorded.sums.freed_bytes += block->second;
    ++recorded.sums.freed_blocks;
    recorded.live.erase(block);
  }
}

Recorded Read(const std::string& file) {
  Recorded recorded;
  RecordingVisitor visitor;
  visitor.facts = [&](RecordingFacts&& facts) { recorded.facts = std::move(facts); };
  visitor.window = [&](SnapshotWindow&& window) { recorded.windows[window.id] = window; };
  visitor.mark = [&](std::string&& name) { recorded.marks.push_back(std::move(name)); };
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
    EXPECT_EQ(recorded.unknown_frees, 0U);
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

TEST_F(RecordingTest, RecordsAProgramThatIsExecutedInAnothersPlaceBesideIt) {
  const CommandResult result =
      Record({"-o", File("a")}, {"/bin/sh", "-c", "exec " + FixturePath("recorded_threads")});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(Read(File("a")).error, "");
  ExpectExact(Read(File("a.exec1")));
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

}  // namespace
}  // namespace leakgate::test
