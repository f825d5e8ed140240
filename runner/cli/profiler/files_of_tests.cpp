#include "runner/cli/profiler/files_of_tests.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/base/path_text.h"
#include "runner/cli/terminal.h"
#include "runner/profiling/record_top_allocators.h"
#include "runner/region/amount.h"
#include "runner/report/style.h"
#include "runner/snapshot/file/requested_snapshot.h"

namespace leakgate {
namespace {

const Choices<SnapshotTests> kSnapshotTests = {
    "WHICH",
    "tests",
    "--when={}",
    {{"over_budget", SnapshotTests::kOverBudget}, {"every", SnapshotTests::kEvery}}};

void PrintSnapshots(const FilesOfTests& files, SummaryDetail detail) {
  const auto& kept = files.snapshots->kept();
  const auto whole = std::find_if(kept.begin(), kept.end(), [](const TestSnapshotPair& pair) {
    return !pair.begin.empty() && !pair.end.empty();
  });
  if (detail != SummaryDetail::kQuiet || !kept.empty()) {
    PrintMessage(fmt::format("snapshots of {} in {}",
                             FormatCount(static_cast<std::int64_t>(kept.size()), "test"),
                             PathText(files.snapshots_directory)));
  }
  if (whole != kept.end()) {
    PrintMessage(fmt::format("to see what {} left: leakgate snapshot diff {} {}", whole->test,
                             PathText(whole->begin), PathText(whole->end)));
  }
}

void PrintRecordings(const FilesOfTests& files, SummaryDetail detail) {
  const auto& kept = files.recordings->kept();
  if (detail != SummaryDetail::kQuiet || !kept.empty()) {
    PrintMessage(fmt::format("recordings of {} in {}",
                             FormatCount(static_cast<std::int64_t>(kept.size()), "test"),
                             PathText(files.recordings_directory)));
  }
  if (!kept.empty()) {
    PrintMessage(fmt::format("to see what {} did: leakgate recording show {}", kept.front().test,
                             PathText(kept.front().file)));
  }
}

}  // namespace

void FilesOfTests::Declare(OptionList& options) {
  options.Add("--snapshots", FileWord("DIR"), snapshots_directory,
              "Keep a snapshot of the begin and of the end of each test that is over budget, for "
              "leakgate snapshot diff. The test waits while its blocks are copied");
  options.Add(
      "--record", FileWord("DIR"), recordings_directory,
      "Keep a recording of each test that is over budget: each allocation and free while it "
      "ran, for leakgate recording show");
  options.AddChoice("--when", kSnapshotTests, when,
                    "Of --snapshots and --record: over_budget (default) or every");
}

Expected<void> FilesOfTests::Complete() {
  if (when && snapshots_directory.empty() && recordings_directory.empty()) {
    return UsageError(
        "--when says of which tests to keep files; add --snapshots DIR or --record DIR, or leave "
        "it out");
  }
  return {};
}

Expected<void> FilesOfTests::Prepare(RunExtensions& extensions) {
  const SnapshotTests tests = when.value_or(SnapshotTests::kOverBudget);
  if (!snapshots_directory.empty()) {
    LEAKGATE_TRY_ASSIGN(auto created, TestSnapshots::Create(snapshots_directory, tests));
    snapshots = std::move(created);
    extensions.observers.push_back(snapshots);
  }
  if (!recordings_directory.empty()) {
    LEAKGATE_TRY_ASSIGN(auto created, TestRecordings::Create(recordings_directory, tests));
    recordings = std::move(created);
    extensions.observers.push_back(recordings);
  }
  return {};
}

Expected<void> FilesOfTests::Tell(SummaryDetail detail) const {
  if (snapshots != nullptr) PrintSnapshots(*this, detail);
  if (recordings != nullptr) PrintRecordings(*this, detail);
  if (snapshots != nullptr && !snapshots->problem().empty()) {
    return InconclusiveError(snapshots->problem());
  }
  if (recordings != nullptr && !recordings->problem().empty()) {
    return InconclusiveError(recordings->problem());
  }
  return {};
}

RunExtensions ProfilerExtensions() {
  return {.observers = {},
          .answer_more = AnswerSnapshotRequests,
          .find_top_allocators = RecordTopAllocators};
}

}  // namespace leakgate
