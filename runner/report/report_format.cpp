#include "runner/report/report_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "runner/base/path_text.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

struct NamedFormat {
  std::string_view name;
  ReportFormat format;
};

constexpr std::array kFormats = {
    NamedFormat{"json", ReportFormat::kJson},
    NamedFormat{"junit", ReportFormat::kJunit},
    NamedFormat{"sarif", ReportFormat::kSarif},
    NamedFormat{"github", ReportFormat::kGithub},
    NamedFormat{"gitlab", ReportFormat::kGitlab},
    NamedFormat{"markdown", ReportFormat::kMarkdown},
    NamedFormat{"folded", ReportFormat::kFolded},
    NamedFormat{"pprof", ReportFormat::kPprof},
    NamedFormat{"speedscope", ReportFormat::kSpeedscope},
    NamedFormat{"html", ReportFormat::kHtml},
};

}  // namespace

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const NamedFormat& format : kFormats) names.emplace_back(format.name);
  return names;
}

std::string KnownFormats() { return fmt::format("{}", fmt::join(FormatNames(), ", ")); }

Expected<ReportRequest> ParseReportRequest(std::string_view request) {
  const std::size_t equals = request.find('=');
  if (equals == std::string_view::npos || equals + 1 == request.size()) {
    return UsageError(fmt::format(
        "report '{}' names no file; write FORMAT=FILE, for example json=leakgate.json", request));
  }
  const std::string_view format = request.substr(0, equals);
  const auto known = std::find_if(kFormats.begin(), kFormats.end(),
                                  [&](const NamedFormat& it) { return it.name == format; });
  if (known == kFormats.end()) {
    return UsageError(fmt::format("report '{}': unknown format '{}'; known: {}", request, format,
                                  KnownFormats()));
  }
  const std::string_view file = request.substr(equals + 1);
  if (file == "-") {
    return UsageError(fmt::format(
        "report '{}': standard output is the program's and the summary's; name a file", request));
  }
  return ReportRequest{known->format, PathOf(file)};
}

}  // namespace leakgate
