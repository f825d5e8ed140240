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
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
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
  std::uint64_t last_time = 0;
  int steps_back = 0;  // where an event is more than a microsecond before the last one
};

void Count(const RecordedEvent& event, Recorded& recorded) {
  ++recorded.kinds[event.kind];
  if (event.time_ns + 1000 < recorded.last_time) ++recorded.steps_back;
  recorded.last_time = std::max(recorded.last_time, event.time_ns);
  if (event.kind == RecordedKind::kAllocate || event.kind == RecordedKind::kRestore) {
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
  std::string File(const std::string& name) const { return (directory_.path() / name).string(); }

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
              recorded.kinds.at(RecordedKind::kThreadEnds) + 1);  // but the main one's
  }
}

// In the end: what is lost, and what is there, is all that was counted.
TEST_F(RecordingTest, CountsEachEventThatIsLost) {
  const CommandResult result =
      Record({"-o", File("a"), "--when-full", "lose", "--buffer-size", "4K", "--buffers", "2"},
             {FixturePath("recorded_threads")});
  EXPECT_EQ(result.exit_code, 0);
  const Recorded recorded = Read(File("a"));
  EXPECT_EQ(recorded.error, "");
  const Totals& counted = recorded.closing.process.since_begin;
  std::uint64_t written = 0;
  for (const auto& [kind, count] : recorded.kinds) {
    if (kind == RecordedKind::kAllocate || kind == RecordedKind::kFree ||
        kind == RecordedKind::kThreadBegins || kind == RecordedKind::kThreadEnds) {
      written += static_cast<std::uint64_t>(count);
    }
  }
  ASSERT_GT(recorded.closing.lost_events, 0U);
  EXPECT_THAT(recorded.closing.missing, Contains(HasSubstr("events were lost")));
  EXPECT_THAT(result.standard_error, HasSubstr("incomplete: "));
  const std::uint64_t threads = recorded.closing.process.thread_count - 1;
  EXPECT_EQ(written + recorded.closing.lost_events,
            counted.allocated_blocks + counted.freed_blocks + 2 * threads - 1 +
                OtherEventsOf(recorded));
}

}  // namespace
}  // namespace leakgate::test
