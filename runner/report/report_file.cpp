#include "runner/report/report_file.h"

#include <fmt/format.h>

#include <string>

namespace leakgate {
namespace {

namespace fs = std::filesystem;

std::string KnownFormats() { return "json"; }

}  // namespace

Expected<ReportRequest> ParseReportRequest(std::string_view request) {
  const std::size_t equals = request.find('=');
  if (equals == std::string_view::npos || equals + 1 == request.size()) {
    return UsageError(fmt::format(
        "report '{}' names no file; write FORMAT=FILE, for example json=leakgate.json", request));
  }
  const std::string_view format = request.substr(0, equals);
  if (format != "json") {
    return UsageError(fmt::format("report '{}': unknown format '{}'; known: {}", request, format,
                                  KnownFormats()));
  }
  return ReportRequest{ReportFormat::kJson, fs::path(request.substr(equals + 1))};
}

}  // namespace leakgate
