// Recordings, written and read again: random events of several threads, files that were cut off at
// any byte, and damaged ones.
#include <gmock/gmock.h>

#include <random>
#include <sstream>

#include "runner/recording/file/read_recording.h"
#include "runner/recording/file/recording_writer.h"

namespace leakgate::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::uint32_t kThreads = 3;

RecordingFacts SomeFacts() {
  RecordingFacts facts;
  facts.process.pid = 4242;
  facts.process.image = "/src/build/net_test";
  facts.buffer_bytes = 65536;
  facts.buffer_count = 8;
  facts.when_full = WhenFull::kLose;
  facts.unit_ns = 49.25;
  facts.test = "Net.Grows";
  return facts;
}

// Two stacks, one window and three threads to refer to.
void AddRecords(RecordWriter& records) {
  records.Add(SnapshotModule{.id = 1, .module = {.begin = 0x1000, .end = 0x9000}});
  (void)records.Add(SnapshotNode{0x1234, 0, 1});
  (void)records.Add(SnapshotNode{0x1300, kStackRootCount, 1});
  records.Add(SnapshotWindow{.id = 1});
  for (std::uint32_t id = 1; id <= kThreads; ++id) {
    records.Add(SnapshotThread{.id = id, .tid = static_cast<int>(100 + id)});
  }
}

struct Read {
  RecordingFacts facts;
  RecordingClosing closing;
  std::vector<std::string> marks;
  std::vector<RecordedEvent> events;
  std::string error;
};

Read ReadAll(const std::string& text) {
  Read read;
  RecordingVisitor visitor;
  visitor.facts = [&](RecordingFacts&& facts) { read.facts = std::move(facts); };
  visitor.mark = [&](std::string&& name) { read.marks.push_back(std::move(name)); };
  visitor.events = [&](std::span<const RecordedEvent> events) -> Expected<void> {
    read.events.insert(read.events.end(), events.begin(), events.end());
    return {};
  };
  visitor.closing = [&](RecordingClosing&& closing) { read.closing = std::move(closing); };
  std::istringstream in(text);
  const Expected<void> done = ReadRecording(in, "a.recording", visitor);
  if (!done) read.error = done.error().message;
  return read;
}

struct Written {
  std::string text;
  std::vector<std::vector<RecordedEvent>> by_thread{kThreads + 1};  // times in units
};

// The address, size and stack are such as programs have: repeated, near each other, and sometimes
// as large as can be.
RecordedEvent RandomEvent(std::mt19937& random, std::vector<std::uint64_t>& live) {
  RecordedEvent event{.window = 1};
  if (!live.empty() && random() % 2 == 0) {
    const std::size_t which = random() % 4 == 0 ? random() % live.size() : live.size() - 1;
    event.kind = RecordedKind::kFree;
    event.address = live[which];
    event.stack = random() % 3 == 0 ? kStackRootCount + 1 : 0;
    live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
    return event;
  }
  event.kind = RecordedKind::kAllocate;
  event.address = random() % 50 == 0 ? 0x7FFF'FFFF'FFF0 : 0x5555'0000'0000 + random() % 4096 * 16;
  event.size_bytes = random() % 40 == 0 ? (std::uint64_t{1} << 46) + random() : random() % 300;
  event.stack = kStackRootCount + random() % 2;
  event.allocation_kind = random() % 2 == 0 ? AllocationKind::kNew : AllocationKind::kMalloc;
  live.push_back(event.address);
  return event;
}

void Write(recording_format::SegmentWriter& out, std::uint64_t delta, const RecordedEvent& event) {
  if (event.kind == RecordedKind::kAllocate) {
    out.Allocate(delta, event.address, event.size_bytes, event.stack, event.allocation_kind);
  } else if (event.stack != 0) {
    out.FreeByStack(delta, event.address, event.stack);
  } else {
    out.Free(delta, event.address);
  }
}

Written WriteRandom(unsigned seed) {
  Written written;
  std::ostringstream out;
  RecordingWriter writer(out, SomeFacts());
  AddRecords(writer.records());
  std::mt19937 random(seed);
  std::vector<std::vector<std::uint64_t>> live(kThreads + 1);
  std::uint64_t round_end = 0;
  for (int round = 0; round < 5; ++round) {
    const std::uint64_t round_begin = round_end;
    round_end += 20000;
    for (std::uint32_t thread = 1; thread <= kThreads; ++thread) {
      std::uint64_t time = round_begin;
      writer.BeginSegment({.thread = thread, .begin_time = time, .window = 1});
      for (int i = 0; i < 1000; ++i) {
        const std::uint64_t delta = random() % 20;
        RecordedEvent event = RandomEvent(random, live[thread]);
        event.thread = thread;
        time += delta;
        event.time_ns = time;
        Write(writer.events(), delta, event);
        written.by_thread[thread].push_back(event);
      }
      writer.EndSegment();
    }
    EXPECT_TRUE(writer.EndRound(round_end, 50 * round_end));
  }
  EXPECT_TRUE(writer.Finish({.end_ns = 50 * round_end}));
  written.text = out.str();
  return written;
}

TEST(RecordingFileTest, GivesBackTheEventsOfEachThreadInItsOrder) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Written written = WriteRandom(seed);
    const Read read = ReadAll(written.text);
    ASSERT_EQ(read.error, "");
    std::vector<std::size_t> next(kThreads + 1);
    for (const RecordedEvent& event : read.events) {
      const RecordedEvent& expected = written.by_thread[event.thread][next[event.thread]++];
      ASSERT_EQ(event.kind, expected.kind);
      ASSERT_EQ(event.address, expected.address);
      ASSERT_EQ(event.stack, expected.stack);
      ASSERT_EQ(event.size_bytes, expected.size_bytes);
      // Rounds tell what a unit is: 50 ns here.
      ASSERT_NEAR(static_cast<double>(event.time_ns), static_cast<double>(50 * expected.time_ns),
                  1);
      if (event.kind == RecordedKind::kAllocate) {
        ASSERT_EQ(event.allocation_kind, expected.allocation_kind);
      }
    }
    EXPECT_THAT(next, ElementsAre(0, 5000, 5000, 5000));
  }
}

TEST(RecordingFileTest, GivesEventsOfAllThreadsInOrderOfTime) {
  const Read read = ReadAll(WriteRandom(9).text);
  ASSERT_THAT(read.events, SizeIs(15000));
  for (std::size_t i = 1; i < read.events.size(); ++i) {
    ASSERT_LE(read.events[i - 1].time_ns, read.events[i].time_ns);
  }
}

TEST(RecordingFileTest, KeepsWhatIsKnownOfTheRecording) {
  const Read read = ReadAll(WriteRandom(1).text);
  EXPECT_EQ(read.facts.process.pid, 4242);
  EXPECT_EQ(read.facts.when_full, WhenFull::kLose);
  EXPECT_NEAR(read.facts.unit_ns, 49.25, 1e-6);
  EXPECT_EQ(read.facts.test, "Net.Grows");
  EXPECT_EQ(read.closing.events, 15000U);
  EXPECT_THAT(read.closing.missing, IsEmpty());
}

TEST(RecordingFileTest, TellsWhatAThreadHasLostAndWhen) {
  std::ostringstream out;
  RecordingWriter writer(out, SomeFacts());
  AddRecords(writer.records());
  writer.BeginSegment(
      {.thread = 2, .begin_time = 900, .window = 1, .lost_events = 17, .lost_begin = 300});
  writer.events().Free(10, 0x5000);
  writer.EndSegment();
  ASSERT_TRUE(writer.EndRound(1000, 100'000));
  ASSERT_TRUE(writer.Finish({.lost_events = 17}));
  const Read read = ReadAll(out.str());
  ASSERT_THAT(read.events, SizeIs(2));
  EXPECT_EQ(read.events[0].kind, RecordedKind::kLost);
  EXPECT_EQ(read.events[0].size_bytes, 17U);
  EXPECT_EQ(read.events[0].address, 30'000U);
  EXPECT_EQ(read.events[0].time_ns, 90'000U);
  EXPECT_EQ(read.events[0].thread, 2U);
  EXPECT_EQ(read.closing.lost_events, 17U);
}

// Whatever ends the recorder, its file is read up to its last whole part.
TEST(RecordingFileTest, ReadsAFileThatWasCutOffAsFarAsItGoes) {
  const std::string whole = WriteRandom(3).text;
  std::size_t events_before = 0;
  int read_in_part = 0;
  for (std::size_t length = 0; length < whole.size(); length += 997) {
    const Read read = ReadAll(whole.substr(0, length));
    if (!read.error.empty()) {
      EXPECT_EQ(events_before, 0U) << "only a file without its facts is of no use";
      continue;
    }
    ++read_in_part;
    EXPECT_GE(read.events.size(), events_before);
    EXPECT_THAT(read.closing.missing, Not(IsEmpty()));
    events_before = read.events.size();
  }
  EXPECT_GT(read_in_part, 5);
  EXPECT_GE(events_before, 12000U);
}

TEST(RecordingFileTest, FindsDamageWithItsChecksums) {
  const std::string whole = WriteRandom(4).text;
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    std::string damaged = whole;
    damaged[40 + random() % (damaged.size() - 40)] ^= static_cast<char>(1 + random() % 255);
    const Read read = ReadAll(damaged);
    // The last part is an index, without which nothing is missing.
    EXPECT_TRUE(!read.error.empty() || read.closing.events == 15000U ||
                !read.closing.missing.empty());
  }
}

// However long and many they are, and whenever a round ends.
TEST(RecordingFileTest, GivesBackAllNamesOfMarksThatTheWriterTook) {
  std::ostringstream out;
  RecordingWriter writer(out, SomeFacts());
  AddRecords(writer.records());
  constexpr std::size_t kBytes = 16'000;
  std::uint32_t taken = 0;
  while (writer.Mark(std::to_string(taken) + std::string(kBytes, 'm')) == taken) ++taken;
  EXPECT_GT(taken, 15'000U);
  EXPECT_EQ(writer.Mark("short") == taken, true) << "there is room for a short one";
  EXPECT_EQ(writer.Mark("short"), taken) << "and it is kept once";
  ASSERT_TRUE(writer.Finish({}));
  const Read read = ReadAll(out.str());
  EXPECT_EQ(read.error, "");
  ASSERT_THAT(read.marks, SizeIs(taken + 1));
  EXPECT_THAT(read.marks[taken - 1], testing::StartsWith(std::to_string(taken - 1) + "m"));
}

// What zstd makes a thousand times smaller must not fill its reader's memory.
TEST(RecordingFileTest, RefusesWhatTakesMuchMemoryForFewBytes) {
  const auto read = [](snapshot_format::PartKind kind, int parts) {
    std::ostringstream out;
    RecordingWriter writer(out, SomeFacts());
    const std::string empty(4 << 20, '\0');
    for (int i = 0; i < parts; ++i) writer.records().parts().Write(kind, empty);
    EXPECT_LT(out.str().size(), 10'000U);
    std::istringstream in(out.str());
    return ReadRecording(in, "a.recording", {}).error().message;
  };
  EXPECT_THAT(read(snapshot_format::PartKind::kMarks, 3), HasSubstr("it names too much"));
  EXPECT_THAT(read(snapshot_format::PartKind::kEvents, 1),
              HasSubstr("a round has too many segments"));
}

TEST(RecordingFileTest, SaysThatAnotherFileIsNoRecording) {
  EXPECT_THAT(ReadAll("{}").error, HasSubstr("a.recording: not a recording of leakgate's"));
  EXPECT_THAT(ReadAll("leakgate-snapshot-1\nabc").error, HasSubstr("not a recording"));
  EXPECT_THAT(ReadAll("leakgate-recording-9\nabc").error, HasSubstr("another version"));
}

}  // namespace
}  // namespace leakgate::test
