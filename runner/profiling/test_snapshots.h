// Takes snapshots at the begin and the end of tests (`leakgate run --snapshots DIR`), so that
// `leakgate snapshot diff` can show what a test left.
//
// Which tests fail is known only at their ends. What was live at a test's begin cannot be found out
// then, because blocks may have been freed and others allocated in their places. So a snapshot is
// taken at each begin, and its file removed if the test passes. This costs about 0.1 us for each
// live block, while the test waits.
//
//   Begin      a test begins; the program waits
//   End        the test has been judged; the program still waits
//   Conclude   the run's verdicts are final; unwanted files are removed
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/expected.h"
#include "runner/region/region_reader.h"
#include "runner/result/run_result.h"
#include "runner/run/run_extensions.h"

namespace leakgate {

enum class SnapshotTests { kOverBudget, kEvery };

// Returns a name for files of the test, which may contain a '/', and may be long.
[[nodiscard]] std::string FileNameOfTest(std::string_view name);
[[nodiscard]] bool IsTestOverBudget(std::string_view test, int iteration,
                                    const std::vector<WindowResult>& results);

// The snapshot files of one test.
struct TestSnapshotPair {
  std::string test;  // the name of its window
  int iteration = 1;
  std::filesystem::path begin;
  std::filesystem::path end;  // empty if the test did not end
};

// Any thread may call, one at a time.
class TestSnapshots : public TestObserver {
 public:
  // Makes `directory` if it does not exist.
  [[nodiscard]] static Expected<std::shared_ptr<TestSnapshots>> Create(
      const std::filesystem::path& directory, SnapshotTests tests);

  [[nodiscard]] bool WantsEveryEnd() const override { return tests_ == SnapshotTests::kEvery; }
  void Begin(const RegionReader& region, std::uint32_t window) override;
  void End(const RegionReader& region, std::uint32_t window, const WindowResult& result) override;
  void Conclude(const std::vector<WindowResult>& results) override;

  // The remaining files, and the first error in writing one, if any. REQUIRES: Conclude.
  const std::vector<TestSnapshotPair>& kept() const { return kept_; }
  const std::string& problem() const { return problem_; }

 private:
  TestSnapshots(std::filesystem::path directory, SnapshotTests tests)
      : directory_(std::move(directory)), tests_(tests) {}

  // Returns the file's path; an empty one if it could not be written.
  std::filesystem::path Write(const RegionReader& region, const WindowCopy& window,
                              const char* moment);
  static void Remove(const TestSnapshotPair& pair);

  std::filesystem::path directory_;
  SnapshotTests tests_;
  TestSnapshotPair running_;  // of the running test; its `begin` is empty if there is none
  std::vector<TestSnapshotPair> kept_;
  std::string problem_;
};

}  // namespace leakgate
