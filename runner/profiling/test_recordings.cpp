#include "runner/profiling/test_recordings.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/process/proc_files.h"
#include "runner/snapshot/file/describe_process.h"

namespace leakgate {

namespace fs = std::filesystem;

EventRequest EventsOfTests(const EventTimeUnit& unit) {
  return {.buffer_bytes = 64 * 1024,
          .buffer_count = 128,
          .when_full = WhenFull::kWait,
          .clock = unit.clock,
          .time_shift = unit.shift};
}

Expected<std::shared_ptr<TestRecordings>> TestRecordings::Create(const fs::path& directory,
                                                                 SnapshotTests tests) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!fs::is_directory(directory, error)) {
    return UsageError(fmt::format("--record {}: no directory can be made there: {}; name another",
                                  PathText(directory), error.message()));
  }
  return std::shared_ptr<TestRecordings>(new TestRecordings(directory, tests));
}

TestRecordings::TestRecordings(fs::path directory, SnapshotTests tests)
    : directory_(std::move(directory)),
      tests_(tests),
      unit_(ChooseEventTime()),
      events_(EventsOfTests(unit_)) {}

void TestRecordings::Finish(Fate fate) {
  if (recorder_ == nullptr) return;
  const Expected<RecordingClosing> closing = std::exchange(recorder_, nullptr)->Finish();
  if (!closing && problem_.empty()) problem_ = closing.error().message;
  if (fate == Fate::kKeep) {
    kept_.push_back(std::move(running_));
  } else {
    RemoveWrittenFile(running_.file);
  }
  running_ = {};
}

// Without buffers, each test tells that it cannot be recorded.
void TestRecordings::BeginImage(const RegionFile& region) {
  Expected<std::unique_ptr<EventBuffers>> buffers = EventBuffers::Attach(region.fd());
  buffers_ = buffers ? *std::move(buffers) : nullptr;
}

// The previous test may have ended without a question, if it left nothing.
void TestRecordings::Begin(const RegionReader& region, std::uint32_t id) {
  const WindowCopy window = region.Window(id);
  if (window.kind != WindowKind::kTest) return;
  Finish(tests_ == SnapshotTests::kEvery ? Fate::kKeep : Fate::kRemove);
  const int pid = region.Pid();
  SnapshotFacts facts = DescribeProcess(region, pid, ExecutedProgramOf(pid));
  facts.occasion = window.name;
  fs::path file = directory_ / fmt::format("{}-{}-{:05}-{}.recording", FileNameIn(facts.name), pid,
                                           window.id, FileNameOfTest(window.name));
  RecorderSetup setup{.process = std::move(facts),
                      .thread_name = [pid](int tid) { return NameOfThread(pid, tid); },
                      .unit = unit_,
                      .request = events_,
                      .path = file,
                      .existing = AtomicFile::Existing::kReplaced,
                      .test = window.name,
                      .has_blocks = true};
  auto recorder = EventRecorder::Start(region, buffers_, std::move(setup));
  if (!recorder) {
    if (problem_.empty()) problem_ = recorder.error().message;
    return;
  }
  recorder_ = *std::move(recorder);
  running_ = {window.name, window.iteration, std::move(file)};
}

void TestRecordings::End(const RegionReader& region, std::uint32_t id, const WindowResult& result) {
  const WindowCopy window = region.Window(id);
  if (window.kind != WindowKind::kTest || window.name != running_.test) return;
  const bool is_kept = tests_ == SnapshotTests::kEvery || result.verdict != Verdict::kPass;
  Finish(is_kept ? Fate::kKeep : Fate::kRemove);
}

void TestRecordings::Conclude(const std::vector<WindowResult>& results) {
  Finish(Fate::kKeep);
  if (tests_ == SnapshotTests::kEvery) return;
  // Some tests could not be judged at their ends and have turned out to be within budget.
  std::erase_if(kept_, [&](const TestRecording& recording) {
    if (IsTestOverBudget(recording.test, recording.iteration, results)) return false;
    RemoveWrittenFile(recording.file);
    return true;
  });
}

}  // namespace leakgate
