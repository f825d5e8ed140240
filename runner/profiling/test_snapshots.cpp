#include "runner/profiling/test_snapshots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <system_error>
#include <utility>

#include "runner/base/atomic_file.h"
#include "runner/base/path_text.h"
#include "runner/process/proc_files.h"
#include "runner/snapshot/file/describe_process.h"
#include "runner/snapshot/file/write_snapshot.h"

namespace leakgate {
namespace fs = std::filesystem;

std::string FileNameOfTest(std::string_view name) {
  constexpr std::size_t kMostCharacters = 100;
  std::string file(name.substr(0, kMostCharacters));
  std::replace_if(
      file.begin(), file.end(),
      [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_';
      },
      '_');
  return file;
}

bool IsTestOverBudget(std::string_view test, int iteration,
                      const std::vector<WindowResult>& results) {
  return std::any_of(results.begin(), results.end(), [&](const WindowResult& result) {
    return result.kind == WindowKind::kTest && result.name == test &&
           result.iteration == iteration && result.verdict == Verdict::kOverBudget;
  });
}

Expected<std::shared_ptr<TestSnapshots>> TestSnapshots::Create(const fs::path& directory,
                                                               SnapshotTests tests) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!fs::is_directory(directory, error)) {
    return UsageError(
        fmt::format("--snapshots {}: no directory can be made there: {}; name another",
                    PathText(directory), error.message()));
  }
  return std::shared_ptr<TestSnapshots>(new TestSnapshots(directory, tests));
}

fs::path TestSnapshots::Write(const RegionReader& region, const WindowCopy& window,
                              const char* moment) {
  const int pid = region.Pid();
  SnapshotRequest request{DescribeProcess(region, pid, ExecutedProgramOf(pid)), nullptr};
  request.thread_name = [pid](int tid) { return NameOfThread(pid, tid); };
  request.facts.occasion = fmt::format("{} of {}", moment, window.name);
  // If the test's thread, which waits for the answer, is the only one, nothing runs meanwhile.
  if (ListThreads(pid).size() == 1) request.facts.moment = SnapshotMoment::kStopped;
  const fs::path path =
      directory_ / fmt::format("{}-{}-{:05}-{}-{}.snapshot", FileNameIn(request.facts.name),
                               request.facts.pid, window.id, FileNameOfTest(window.name), moment);
  const Expected<SnapshotClosing> written = WriteSnapshot(region, request, path);
  if (written) return path;
  if (problem_.empty()) problem_ = written.error().message;
  return {};
}

void TestSnapshots::Remove(const TestSnapshotPair& pair) {
  for (const fs::path& file : {pair.begin, pair.end}) {
    if (!file.empty()) RemoveWrittenFile(file);
  }
}

// The previous test may have ended without a question, if it left nothing.
void TestSnapshots::Begin(const RegionReader& region, std::uint32_t id) {
  const WindowCopy window = region.Window(id);
  if (window.kind != WindowKind::kTest) return;
  if (tests_ == SnapshotTests::kOverBudget) {
    Remove(running_);
  } else if (!running_.begin.empty()) {
    kept_.push_back(running_);
  }
  running_ = {window.name, window.iteration, Write(region, window, "begin"), {}};
}

void TestSnapshots::End(const RegionReader& region, std::uint32_t id, const WindowResult& result) {
  const WindowCopy window = region.Window(id);
  const bool is_running =
      window.kind == WindowKind::kTest && window.name == running_.test && !running_.begin.empty();
  if (!is_running) return;
  if (tests_ == SnapshotTests::kOverBudget && result.verdict == Verdict::kPass) return;
  running_.end = Write(region, window, "end");
  kept_.push_back(std::exchange(running_, {}));
}

void TestSnapshots::Conclude(const std::vector<WindowResult>& results) {
  if (!running_.begin.empty()) kept_.push_back(std::exchange(running_, {}));
  if (tests_ == SnapshotTests::kEvery) return;
  // Some tests could not be judged at their ends and have turned out to be within budget.
  std::erase_if(kept_, [&](const TestSnapshotPair& pair) {
    if (IsTestOverBudget(pair.test, pair.iteration, results)) return false;
    Remove(pair);
    return true;
  });
}

}  // namespace leakgate
