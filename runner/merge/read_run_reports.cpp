#include "runner/merge/read_run_reports.h"

#include <string>
#include <utility>
#include <vector>

namespace leakgate {

using Json = nlohmann::ordered_json;

Expected<Json> ReadRunReportAt(const RunPlace& place) {
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
