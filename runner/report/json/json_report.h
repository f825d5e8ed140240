// Writes and reads the JSON report: everything that a run has found, for other programs and for
// leakgate itself.
//
// docs/report-format.md explains each key; the schema of the output is
// docs/leakgate-report-2.schema.json. The same result gives the same bytes. Bytes of a name or a
// path that are not UTF-8 become U+FFFD.
//
// A report is read from front to back. One run is held at a time, and the JSON of one window, so
// memory does not grow with their number. The text is not trusted: what would need much memory, or
// much time for each byte, is refused, however well-formed it is. So are long texts, many keys in
// one object, deep nesting, and many values. Reading ends at the first problem.
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

// Makes a writer for `runs` runs. One run is written as it is; any other number becomes a merged
// report, an object that has them as its `runs`.
[[nodiscard]] ReportWriter NewJsonWriter(std::ostream& out, std::size_t runs);

// Returns the report of one run, with a trailing newline.
[[nodiscard]] std::string ToJson(const RunResult& result);

// Reads up to `size` bytes of the text into `to`. Returns 0 at its end.
using ReadBytes = std::function<std::size_t(char* to, std::size_t size)>;

struct JsonProblem {
  std::uint64_t offset = 0;
  bool is_behind_value = false;  // the offset is behind the string or number that is wrong
  bool is_cut_off = false;       // the text ends too early
  bool is_report = false;        // the text says that it is a report of leakgate's
  std::string text;              // "what is wrong; what to do"
};

// The place of a run in the text, from its opening brace to behind its closing one.
struct JsonSpan {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

using OnRun = std::function<void(RunResult&& run, const JsonSpan& span)>;

// Calls `on_run` with each run, in its order. Returns what is wrong with the text; some runs may
// have been passed on by then.
[[nodiscard]] std::optional<JsonProblem> ReadRuns(const ReadBytes& read, const OnRun& on_run);

// What the text says that it is. If it has no schema and is not cut off, it is no report of
// leakgate's.
struct JsonSchema {
  std::optional<std::string> schema;
  bool is_cut_off = false;   // the text ends before its schema
  std::uint64_t offset = 0;  // behind the schema, or the end
};
// Reads no more of the text than is needed.
[[nodiscard]] JsonSchema ReadSchema(const ReadBytes& read);

// Returns true for the schemas of all versions of leakgate's reports.
[[nodiscard]] bool IsSchemaOfReports(std::string_view schema);

// The most bytes of a text or a number. The longest texts are names of functions; those of
// templates have many KiB.
inline constexpr std::size_t kMostTokenBytes = 1 << 24;
// How deep arrays and objects may be nested.
inline constexpr std::size_t kMostDepth = 64;
// The most keys of an object. Each is compared with all others.
inline constexpr std::size_t kMostKeys = 256;
// The most elements of an array. A window may have fewer violations, because each is compared with
// its findings, and fewer freeing errors, because the agent records no more.
inline constexpr std::size_t kMostRecords = 1'000'000;
inline constexpr std::size_t kMostViolations = 1024;
inline constexpr std::size_t kMostFreeErrors = 4096;
// The most values of a run. A report of 100,000 tests that leave nothing behind has about 7,000,000
// in 160 MiB.
inline constexpr std::uint64_t kMostValues = 1 << 24;

}  // namespace leakgate
