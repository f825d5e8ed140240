#include "runner/merge/read_run_reports.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace leakgate {

using Json = nlohmann::ordered_json;

Expected<void> RequireFits(const RunPlace& place) {
  // A report of 100,000 tests that leave nothing has about 7,000,000 values in 160 MiB.
  constexpr std::uint64_t kMostValues = 1 << 24;
  constexpr std::uint64_t kMostMebibytes = 512;
  if (place.values <= kMostValues && place.size >> 20 < kMostMebibytes) return {};
  return UsageError(
      fmt::format("{}: the run report at byte {} has {} values in {} MiB, and {} in {} MiB can be "
                  "taken apart at most; run its tests in shards",
                  place.file.string(), place.offset, place.values, place.size >> 20, kMostValues,
                  kMostMebibytes));
}

Expected<Json> ReadRunReportAt(const RunPlace& place) {
  if (const Expected<void> fits = RequireFits(place); !fits) return Unexpected(fits.error());
  std::string text;
  text.reserve(place.size);
  const Expected<void> read = ReadRunText(place, [&](std::string_view piece) { text += piece; });
  if (!read) return Unexpected(read.error());
  return Json::parse(text);  // the scanner has taken it as JSON
}

Expected<void> ReadRunReports(const std::filesystem::path& file, const OnRunReport& on_run) {
  std::vector<RunPlace> places;
  const Expected<void> scanned =
      ScanResults(file, [&](RunOutline&&, const RunPlace& place) { places.push_back(place); });
  if (!scanned) return Unexpected(scanned.error());
  for (const RunPlace& place : places) {
    Expected<Json> run = ReadRunReportAt(place);
    if (!run) return Unexpected(run.error());
    on_run(*std::move(run));
  }
  return {};
}

}  // namespace leakgate
