// The JSON report: everything that a run has found, for machines, and for leakgate itself to
// read again (read_json.h).
//
// Each key is explained in docs/report-format.md; the schema that the output keeps to is
// docs/leakgate-report-2.schema.json. The same result gives the same bytes. What is not UTF-8
// in a name or a path comes out as U+FFFD.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "runner/report/report_format.h"
#include "runner/result/run_result.h"

namespace leakgate {

// One run as it is; else a merged report: an object with their `runs`. `runs` is how many
// will be added.
[[nodiscard]] ReportWriter NewJsonWriter(std::ostream& out, std::size_t runs);

// The report of one run, with a trailing newline.
[[nodiscard]] std::string ToJson(const RunResult& result);

// Up to `size` bytes of the text into `to`; 0 at its end.
using ReadBytes = std::function<std::size_t(char* to, std::size_t size)>;

struct JsonProblem {
  std::uint64_t offset = 0;
  bool is_behind_value = false;  // the offset is behind the string or number that is wrong
  bool is_cut_off = false;       // the text ends too early
  bool is_report = false;        // the text says that it is a report of leakgate's
  std::string text;              // "what is wrong; what to do"
};

// Where in the text a run stands, from its opening brace to behind its closing one.
struct JsonSpan {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

using OnRun = std::function<void(RunResult&& run, const JsonSpan& span)>;

// Tells each run, in its order. Returns what is wrong with the text; some runs may have been
// told by then.
[[nodiscard]] std::optional<JsonProblem> ReadRuns(const ReadBytes& read, const OnRun& on_run);

// What the text says that it is. Reads no more than it takes to tell. Neither of them: the
// text is not leakgate's.
struct JsonSchema {
  std::optional<std::string> schema;
  bool is_cut_off = false;   // the text ends before it tells
  std::uint64_t offset = 0;  // behind the schema, or the end
};
[[nodiscard]] JsonSchema ReadSchema(const ReadBytes& read);

// Whether it is one of leakgate's reports, of whatever version.
[[nodiscard]] bool IsSchemaOfReports(std::string_view schema);

// A text or a number is at most so long: function names are the longest texts, those of
// templates many KiB.
inline constexpr std::size_t kMostTokenBytes = 1 << 24;
// Arrays and objects may be nested so deep.
inline constexpr std::size_t kMostDepth = 64;
// An object may have so many keys: each is compared with all others.
inline constexpr std::size_t kMostKeys = 256;
// An array may have so many elements. A window has at most so many violations, each of which
// is set against its findings, and so many freeing errors, of which the agent records no more.
inline constexpr std::size_t kMostRecords = 1'000'000;
inline constexpr std::size_t kMostViolations = 1024;
inline constexpr std::size_t kMostFreeErrors = 4096;
// A run may have so many values: a report of 100,000 tests that leave nothing has about
// 7,000,000 in 160 MiB.
inline constexpr std::uint64_t kMostValues = 1 << 24;

}  // namespace leakgate
