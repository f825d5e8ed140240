// Snapshots at the begin and the end of tests, for `leakgate snapshot diff` to tell what a
// test left: `leakgate run --snapshots DIR`.
//
// Which tests fail is known only at their ends, and what was live at a begin is not to be
// had later: blocks may have been freed since, and others allocated in their places. So the
// begin of each test is copied, and the file removed again if the test passes. That costs
// what a snapshot costs, about 0.1 us a live block, while the test waits.
//
//   Begin      a test begins: the program waits
//   End        it has been judged; the program waits still
//   Conclude   the run's verdicts are final: what is not asked for goes
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/region/region_reader.h"
#include "runner/result/run_result.h"

namespace leakgate {

enum class SnapshotTests { kOverBudget, kEvery };

// The files of one test.
struct TestSnapshotPair {
  std::string test;  // as windows are named
  int iteration = 1;
  std::filesystem::path begin;
  std::filesystem::path end;  // empty: it did not end
};

// One call at a time, on any thread.
class TestSnapshots {
 public:
  // Makes `directory` if it is not there.
  [[nodiscard]] static Expected<std::shared_ptr<TestSnapshots>> Create(
      const std::filesystem::path& directory, SnapshotTests tests);

  SnapshotTests tests() const { return tests_; }

  void Begin(const RegionReader& region, std::uint32_t window);
  void End(const RegionReader& region, std::uint32_t window, const WindowResult& result);
  void Conclude(const std::vector<WindowResult>& results);

  // After Conclude: what there is, and the first error in writing it; empty: none.
  const std::vector<TestSnapshotPair>& kept() const { return kept_; }
  const std::string& problem() const { return problem_; }

 private:
  TestSnapshots(std::filesystem::path directory, SnapshotTests tests)
      : directory_(std::move(directory)), tests_(tests) {}

  // The file's path; empty: it could not be written.
  std::filesystem::path Write(const RegionReader& region, const WindowCopy& window,
                              const char* moment);
  static void Remove(const TestSnapshotPair& pair);

  std::filesystem::path directory_;
  SnapshotTests tests_;
  TestSnapshotPair running_;  // of the test that has begun; no begin: of none
  std::vector<TestSnapshotPair> kept_;
  std::string problem_;
};

}  // namespace leakgate
