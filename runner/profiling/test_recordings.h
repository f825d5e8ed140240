// Records tests, a file for each (`leakgate run --record DIR`): all that was allocated and freed
// while the test ran, on any thread, and what was live at its begin.
//
// Which tests fail is known only at their ends, so each is recorded, and its file removed if it
// passes.
//
//   Begin      a test begins; the program waits
//   End        the test has been judged; the program still waits
//   Conclude   the run's verdicts are final; unwanted files are removed
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/profiling/test_snapshots.h"
#include "runner/recording/event_recorder.h"
#include "runner/result/run_result.h"
#include "runner/run/run_extensions.h"

namespace leakgate {

// A test and its file.
struct TestRecording {
  std::string test;  // the name of its window
  int iteration = 1;
  std::filesystem::path file;
};

// How the region of a program is to be made of which tests are recorded: they wait, so that nothing
// is lost.
[[nodiscard]] EventRequest EventsOfTests(const EventTimeUnit& unit);

// Any thread may call, one at a time.
class TestRecordings : public TestObserver {
 public:
  // Makes `directory` if it does not exist.
  [[nodiscard]] static Expected<std::shared_ptr<TestRecordings>> Create(
      const std::filesystem::path& directory, SnapshotTests tests);

  [[nodiscard]] bool WantsEveryEnd() const override { return tests_ == SnapshotTests::kEvery; }
  [[nodiscard]] EventRequest Events() const override { return events_; }
  void BeginImage(const RegionFile& region) override;
  // So has the recording of a test that had not ended.
  void EndImage() override { Finish(Fate::kKeep); }
  void Begin(const RegionReader& region, std::uint32_t window) override;
  void End(const RegionReader& region, std::uint32_t window, const WindowResult& result) override;
  void Conclude(const std::vector<WindowResult>& results) override;

  // The remaining files, and the first error in writing one, if any. REQUIRES: Conclude.
  const std::vector<TestRecording>& kept() const { return kept_; }
  const std::string& problem() const { return problem_; }

 private:
  TestRecordings(std::filesystem::path directory, SnapshotTests tests);

  enum class Fate { kKeep, kRemove };
  void Finish(Fate fate);

  std::filesystem::path directory_;
  SnapshotTests tests_;
  EventTimeUnit unit_;
  EventRequest events_;
  std::shared_ptr<EventBuffers> buffers_;  // of the image
  TestRecording running_;
  std::unique_ptr<EventRecorder> recorder_;  // of the running test; nullptr if there is none
  std::vector<TestRecording> kept_;
  std::string problem_;
};

}  // namespace leakgate
