// Any bytes as a result file: what `leakgate merge` does with it, up to every format that
// it can be written in. A problem is one error, of one line.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "runner/report/formats/writers.h"
#include "runner/results/merged_runs.h"
#include "runner/results/result_file.h"

namespace {

using namespace leakgate;

const std::filesystem::path& File() {
  static const std::filesystem::path path =
      "/dev/shm/leakgate-report-fuzz-" + std::to_string(::getpid()) + ".json";
  return path;
}

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

std::vector<ReportFormat> AllFormats() {
  std::vector<ReportFormat> formats;
  for (const std::string& name : FormatNames()) {
    formats.push_back(ParseReportRequest(name + "=file").value().format);
  }
  return formats;
}

void Write(const RunResult& run) {
  NullBuffer buffer;
  std::ostream out(&buffer);
  static const std::vector<ReportFormat> formats = AllFormats();
  for (const ReportFormat format : formats) {
    const ReportWriter writer = NewReportWriter(format, out, {});
    if (writer.add_baseline) writer.add_baseline(run);
    writer.add(run);
    writer.finish();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::ofstream(File(), std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  MergedRuns merged;
  const auto read = ReadResults(File(), [&](RunResult&& run, const RunPlace& place) {
    Write(run);
    merged.Add(std::move(run), place);
  });
  if (Succeeds(read)) {
    (void)merged.Sorted();
    (void)merged.CountTests();
    (void)merged.MissingShards();
    (void)merged.FlakyTests();
  }
  return 0;
}
