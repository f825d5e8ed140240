#include "runner/cli/commands/accepted_baseline.h"

#include <fmt/format.h>

#include "runner/base/atomic_file.h"
#include "runner/base/path_text.h"
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
  LEAKGATE_TRY_ASSIGN(AtomicFile file, OpenReport({ReportFormat::kJson, file_}));
  ReportSurroundings surroundings = SurroundingsOfThisProcess();
  surroundings.runs = places_.size();
  const ReportWriter writer = NewReportWriter(ReportFormat::kJson, file.out(), surroundings);
  for (const RunPlace& place : places_) {
    LEAKGATE_TRY_ASSIGN(const RunResult run, ReadResultAt(place));
    writer.add(run);
  }
  writer.finish();
  return file.Commit();
}

Expected<std::string> AcceptedBaseline::Text(const std::string& base_directory) const {
  LEAKGATE_TRY_ASSIGN(const std::vector<Cause> causes, causes_.Largest(kMostBaselineCauses));
  const std::string name = Printable(PathText(file_));
  if (causes.empty()) return fmt::format("leakgate: {}: nothing had to be accepted\n", name);
  return fmt::format("leakgate: {} accepts {}:\n", name,
                     FormatCount(static_cast<std::int64_t>(causes_.size()), "cause")) +
         CauseTable(causes, base_directory, causes_.size(), name + " has each");
}

Expected<RunPlace> WriteRunReport(const std::filesystem::path& file, const RunResult& run) {
  LEAKGATE_TRY_ASSIGN(AtomicFile opened, OpenReport({ReportFormat::kJson, file}));
  const ReportWriter writer =
      NewReportWriter(ReportFormat::kJson, opened.out(), SurroundingsOfThisProcess());
  writer.add(run);
  writer.finish();
  LEAKGATE_TRY(opened.Commit());
  RunPlace written;
  LEAKGATE_TRY(ReadResults(file, [&](RunResult&&, const RunPlace& place) { written = place; }));
  return written;
}

}  // namespace leakgate
