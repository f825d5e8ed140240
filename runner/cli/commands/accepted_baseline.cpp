#include "runner/cli/commands/accepted_baseline.h"

#include <fmt/format.h>

#include "runner/base/atomic_file.h"
#include "runner/cli/write_reports.h"
#include "runner/region/amount.h"
#include "runner/report/formats/writers.h"
#include "runner/report/style.h"
#include "runner/report/summary_text.h"

namespace leakgate {
namespace {

constexpr std::size_t kMostBaselineCauses = 10;

}  // namespace

void AcceptedBaseline::Add(const RunResult& run, const RunPlace& place) {
  causes_.Add(run, place);
  places_.push_back(place);
}

Expected<void> AcceptedBaseline::Write() const {
  Expected<AtomicFile> file = OpenReport({ReportFormat::kJson, file_});
  if (!file) return Unexpected(file.error());
  ReportSurroundings surroundings = SurroundingsOfThisProcess();
  surroundings.runs = places_.size();
  const ReportWriter writer = NewReportWriter(ReportFormat::kJson, file->out(), surroundings);
  for (const RunPlace& place : places_) {
    const Expected<RunResult> run = ReadResultAt(place);
    if (!run) return Unexpected(run.error());
    writer.add(*run);
  }
  writer.finish();
  return file->Commit();
}

Expected<std::string> AcceptedBaseline::Text(const std::string& base_directory) const {
  const Expected<std::vector<Cause>> causes = causes_.Largest(kMostBaselineCauses);
  if (!causes) return Unexpected(causes.error());
  const std::string name = Printable(file_.string());
  if (causes->empty()) return fmt::format("leakgate: {}: nothing had to be accepted\n", name);
  return fmt::format("leakgate: {} accepts {}:\n", name,
                     FormatCount(static_cast<std::int64_t>(causes_.size()), "cause")) +
         CauseTable(*causes, base_directory, causes_.size(), name + " has each");
}

Expected<RunPlace> WriteRunReport(const std::filesystem::path& file, const RunResult& run) {
  Expected<AtomicFile> opened = OpenReport({ReportFormat::kJson, file});
  if (!opened) return Unexpected(opened.error());
  const ReportWriter writer =
      NewReportWriter(ReportFormat::kJson, opened->out(), SurroundingsOfThisProcess());
  writer.add(run);
  writer.finish();
  if (const Expected<void> done = opened->Commit(); !done) return Unexpected(done.error());
  RunPlace written;
  const Expected<void> read =
      ReadResults(file, [&](RunResult&&, const RunPlace& place) { written = place; });
  if (!read) return Unexpected(read.error());
  return written;
}

}  // namespace leakgate
