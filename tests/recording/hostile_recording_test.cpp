// Recordings of programs that name very much, and of programs that forge what is recorded: the file
// can be read whatever they do, what is left out is told, and nobody needs much memory for it.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>

#include "runner/recording/file/read_recording.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Contents {
  std::string error;
  RecordingClosing closing;
  std::map<RecordedKind, std::uint64_t> kinds;
  std::vector<std::string> marks;             // their names
  std::vector<std::uint32_t> marks_in_order;  // numbers of names
  std::map<std::uint32_t, SnapshotThread> threads;
  std::map<std::uint32_t, SnapshotModule> modules;
  std::uint64_t nodes = 0;

  std::string Mark(std::size_t i) const { return marks[marks_in_order[i]]; }
};

Contents ContentsOf(const std::string& file) {
  Contents recorded;
  RecordingVisitor visitor;
  visitor.thread = [&](SnapshotThread&& thread) { recorded.threads[thread.id] = thread; };
  visitor.module = [&](SnapshotModule&& module) { recorded.modules[module.id] = module; };
  visitor.nodes = [&](std::span<const SnapshotNode> nodes) { recorded.nodes += nodes.size(); };
  visitor.mark = [&](std::string&& name) { recorded.marks.push_back(std::move(name)); };
  visitor.events = [&](std::span<const RecordedEvent> events) -> Expected<void> {
    for (const RecordedEvent& event : events) {
      ++recorded.kinds[event.kind];
      if (event.kind == RecordedKind::kMark) recorded.marks_in_order.push_back(event.mark);
    }
    return {};
  };
  visitor.closing = [&](RecordingClosing&& closing) { recorded.closing = std::move(closing); };
  const Expected<void> read = ReadRecording(file, visitor);
  if (!read) recorded.error = read.error().message;
  return recorded;
}

// With no more memory of its own than should do for anything: 1 GB.
CommandResult RunWithLittleMemory(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {"bash", "-c", "ulimit -d 1000000; exec \"$@\"", "bash",
                                      LeakgatePath()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunCommand(command, {.timeout = std::chrono::seconds(300)});
}

class NamesTest : public testing::Test {
 protected:
  // Records a program that gives much to name.
  CommandResult Record(const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {
        "record", "--buffers", "2048", "-o", file_, "--", FixturePath("recorded_names")};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return RunWithLittleMemory(command);
  }
  // The commands that read it come to an end, too.
  CommandResult Show() { return RunWithLittleMemory({"recording", "show", file_}); }

  TemporaryDirectory directory_;
  const std::string file_ = directory_.File("a.recording");
};

TEST_F(NamesTest, OfAMillionMarksAreAllThere) {
  EXPECT_EQ(Record({"marks", "1000000", "60"}).exit_code, 0);
  const Contents recorded = ContentsOf(file_);
  EXPECT_EQ(recorded.error, "");
  EXPECT_THAT(recorded.closing.missing, IsEmpty());
  ASSERT_EQ(recorded.marks_in_order.size(), 1'000'000U);
  EXPECT_EQ(recorded.Mark(0).size(), 60U);
  EXPECT_THAT(recorded.Mark(999'999), testing::StartsWith("999999 "));
  EXPECT_EQ(Show().exit_code, 0);
}

// Most between two looks at the buffers.
TEST_F(NamesTest, OfMarksThatComeAllAtOnceAreAllThere) {
  EXPECT_EQ(Record({"marks", "300000", "60"}).exit_code, 0);
  const Contents recorded = ContentsOf(file_);
  EXPECT_EQ(recorded.error, "");
  ASSERT_EQ(recorded.marks_in_order.size(), 300'000U);
  EXPECT_EQ(recorded.Mark(299'999).size(), 60U);
}

TEST_F(NamesTest, OfMarksThatComeAgainAreKeptOnce) {
  Record({"marks", "200000", "60", "3"});
  const Contents recorded = ContentsOf(file_);
  EXPECT_EQ(recorded.kinds.at(RecordedKind::kMark), 200'000U);
  EXPECT_EQ(recorded.marks.size(), 3U);
  EXPECT_THAT(recorded.Mark(4), testing::StartsWith("1 "));
}

TEST_F(NamesTest, AreCutWhereTheyAreVeryLong) {
  Record({"marks", "3000", "100000"});
  const Contents recorded = ContentsOf(file_);
  EXPECT_EQ(recorded.error, "");
  ASSERT_EQ(recorded.marks_in_order.size(), 3000U);
  EXPECT_EQ(recorded.Mark(2999).size(), kMostMarkBytes);
  EXPECT_THAT(recorded.Mark(2999), testing::StartsWith("2999 "));
}

TEST_F(NamesTest, ThatNoReaderHasRoomForAreCountedAndTold) {
  const CommandResult run = Record({"marks", "300000", "1024"});
  EXPECT_EQ(run.exit_code, 0);
  const Contents recorded = ContentsOf(file_);
  EXPECT_EQ(recorded.error, "");
  EXPECT_THAT(recorded.closing.missing, Contains(HasSubstr("marks were left out")));
  EXPECT_THAT(run.standard_error, HasSubstr("incomplete: "));
  EXPECT_GT(recorded.kinds.at(RecordedKind::kMark), 200'000U);
  EXPECT_THAT(Show().standard_output, HasSubstr("(incomplete)"));
}

TEST_F(NamesTest, OfThousandsOfThreadsAreThere) {
  Record({"threads", "5000"});
  const Contents recorded = ContentsOf(file_);
  EXPECT_EQ(recorded.error, "");
  EXPECT_THAT(recorded.closing.missing, IsEmpty());
  EXPECT_EQ(recorded.kinds.at(RecordedKind::kThreadEnds), 5000U);
  std::size_t named = 0;
  for (const auto& [id, thread] : recorded.threads) named += thread.name.starts_with("thread ");
  EXPECT_EQ(named, 5000U);
}

// Each has a path that is as long as paths may be, nearly.
TEST_F(NamesTest, OfThousandsOfModulesAreThere) {
  constexpr int kLibraries = 1500;
  std::string folder = directory_.path();
  for (int i = 0; i < 14; ++i) folder += "/" + std::string(250, 'd');
  std::filesystem::create_directories(folder);
  for (int i = 0; i < kLibraries; ++i) {
    std::filesystem::copy_file(FixturePath("libleaky_plugin.so"),
                               folder + "/" + std::to_string(i) + ".so");
  }
  EXPECT_EQ(Record({"libraries", std::to_string(kLibraries), folder}).exit_code, 0);
  const Contents recorded = ContentsOf(file_);
  EXPECT_EQ(recorded.error, "");
  std::size_t found = 0;
  for (const auto& [id, module] : recorded.modules) {
    const std::string& path = module.module.path;
    if (path.ends_with(".so") && path.find("/ddd") != std::string::npos) ++found;
  }
  EXPECT_EQ(found + recorded.closing.process.drops[static_cast<std::size_t>(DropReason::kTextFull)],
            std::size_t{kLibraries});
}

// What no agent writes: tests/fixtures/hostile/forged_events.cpp.
class ForgedEventsTest : public testing::TestWithParam<const char*> {};

TEST_P(ForgedEventsTest, TakeLittleMemoryAndCanBeRead) {
  const TemporaryDirectory directory;
  const std::string file = directory.File("a.recording");
  const CommandResult run = RunWithLittleMemory(
      {"record", "-o", file, "--", FixturePath("hostile_forged_events"), GetParam(), "5"});
  EXPECT_EQ(run.exit_code, 0) << run.signal << run.standard_error;
  const Contents recorded = ContentsOf(file);
  EXPECT_EQ(recorded.error, "");
  EXPECT_LE(recorded.nodes, kMaxStackNodes);
  EXPECT_GT(recorded.closing.events, 20'000U);
  const CommandResult shown = RunWithLittleMemory({"recording", "show", file});
  EXPECT_EQ(shown.exit_code, 0) << shown.signal << shown.standard_error;
  EXPECT_LT(std::filesystem::file_size(file), 2ULL << 30);
}

INSTANTIATE_TEST_SUITE_P(, ForgedEventsTest,
                         testing::Values("marks", "short_marks", "circles", "windows", "half",
                                         "random"),
                         [](const auto& test) { return std::string(test.param); });

TEST(ForgedEventsReportTest, SaysThatTheyMakeNoSense) {
  const TemporaryDirectory directory;
  const std::string file = directory.File("a.recording");
  for (const char* const what : {"half", "random", "marks"}) {
    const CommandResult run = Leakgate(
        {"record", "--force", "-o", file, "--", FixturePath("hostile_forged_events"), what, "1"});
    EXPECT_THAT(run.standard_error, HasSubstr("events make no sense, because the process has "
                                              "overwritten leakgate's tables"))
        << what;
    EXPECT_THAT(Leakgate({"recording", "show", file}).standard_output, HasSubstr("(incomplete)"));
  }
}

}  // namespace
}  // namespace leakgate::test
