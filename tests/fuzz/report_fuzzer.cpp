// Any bytes as a result file: what `leakgate merge` does with it, up to every format that
// it can be written in. A problem is one error, of one line.
#include <cstdint>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "runner/merge/merged_runs.h"
#include "runner/merge/read_run_reports.h"
#include "runner/report/report_writer.h"
#include "tests/fuzz/input_file.h"

namespace {

using namespace leakgate;

template <typename T>
bool Succeeds(const Expected<T>& outcome) {
  if (outcome) return true;
  const std::string& message = outcome.error().message;
  if (message.empty() || message.find('\n') != std::string::npos) __builtin_trap();
  return false;
}

// Throws away what it is given.
class NullBuffer : public std::streambuf {
 protected:
  int overflow(int c) override { return c == EOF ? 0 : c; }
  std::streamsize xsputn(const char*, std::streamsize count) override { return count; }
};

void Write(const nlohmann::ordered_json& run) {
  NullBuffer buffer;
  std::ostream out(&buffer);
  for (int format = 0; format <= static_cast<int>(ReportFormat::kHtml); ++format) {
    try {
      const ReportWriter writer = NewReportWriter(static_cast<ReportFormat>(format), out, {});
      if (writer.add_baseline) writer.add_baseline(run);
      writer.add(RunReport(run));
      writer.finish();
    } catch (const nlohmann::json::exception&) {
      // It keeps to no schema: merge says so, with the file's name.
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::filesystem::path& file = fuzz::WriteInputFile(bytes, size);
  MergedRuns merged;
  const auto scanned = ScanResults(
      file, [&](RunOutline&& run, const RunPlace& place) { merged.Add(std::move(run), place); });
  if (Succeeds(scanned)) {
    (void)merged.Sorted();
    (void)merged.CountTests();
    (void)merged.MissingShards();
    (void)merged.FlakyTests();
    (void)Succeeds(ReadRunReports(file, Write));
  }
  return 0;
}
