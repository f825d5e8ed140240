// Reports as files: what the command line asks for.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/atomic_file.h"
#include "runner/base/expected.h"

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

// "json, junit, ..., speedscope".
[[nodiscard]] std::string KnownFormats();

// "json=FILE". A usage error says what is wrong and which formats there are.
[[nodiscard]] Expected<ReportRequest> ParseReportRequest(std::string_view request);

}  // namespace leakgate
