// The report formats, how the command line asks for a report, and what writes one.
//
// Every format is written from the values of a run, so that a run that was read from a file
// is written as one that has just ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/expected.h"
#include "runner/result/run_result.h"

namespace leakgate {

enum class ReportFormat {
  kJson,
  kJunit,
  kSarif,
  kGithub,
  kGitlab,
  kMarkdown,
  kFolded,
  kPprof,
  kSpeedscope,
  kHtml,
};

struct ReportRequest {
  ReportFormat format = ReportFormat::kJson;
  std::filesystem::path path;

  friend bool operator==(const ReportRequest&, const ReportRequest&) = default;
};

[[nodiscard]] std::vector<std::string> FormatNames();

// Returns "json, junit, ..., html".
[[nodiscard]] std::string KnownFormats();

// Parses "json=FILE". A usage error says what is wrong and which formats there are.
[[nodiscard]] Expected<ReportRequest> ParseReportRequest(std::string_view request);

// Returns the whole text of a source file, or nullopt if it cannot be read.
using ReadSource = std::function<std::optional<std::string>(const std::string& file)>;

// Writes one report, of one run or of many that were merged.
struct ReportWriter {
  // Adds one run of the baseline; all of them come before the runs. It is empty where a format
  // compares nothing.
  std::function<void(const RunResult& run)> add_baseline;
  // Adds one run. The report tells the runs in the order of these calls. No run is kept whole,
  // so memory does not grow with their number.
  std::function<void(const RunResult& run)> add;
  // Ends the report. It is called once, after the last run.
  std::function<void()> finish;
};

// What the tests left at an earlier moment, as a page shows it over time.
struct EarlierMoment {
  std::string commit;  // empty: not known
  std::string time;    // ISO 8601, UTC
  std::int64_t tests = 0;
  std::int64_t over_budget = 0;  // of these
  Amount outstanding;
};

struct EarlierResults {
  std::string file;                    // where they come from, as named
  std::vector<EarlierMoment> moments;  // the latest of them, in the order of time
};

// What a report tells of its surroundings. These are values, so that the same runs give the same
// bytes wherever they are written.
struct ReportSurroundings {
  std::string source_root;  // absolute; files below it are named from there; empty: none
  std::string version;      // of leakgate itself, "0.1.0"
  std::size_t runs = 1;     // how many the report will tell of
  // Reads the source lines that a page quotes; if it is empty, the page quotes none. Reports of
  // others name files, too: the code that sets this decides which files may be read.
  ReadSource read_source{};
  std::optional<EarlierResults> history{};  // for the page; nullopt: none was named
};

}  // namespace leakgate
