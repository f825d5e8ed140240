// Reports as files: what the command line asks for, and writing it so that no
// reader ever finds half a report.
#pragma once

#include <filesystem>
#include <string_view>

#include "runner/util/expected.h"

namespace leakgate {

enum class ReportFormat { kJson, kHtml };

struct ReportRequest {
  ReportFormat format = ReportFormat::kJson;
  std::filesystem::path path;

  friend bool operator==(const ReportRequest&, const ReportRequest&) = default;
};

// "json=FILE". A usage error says what is wrong and which formats there are.
[[nodiscard]] Expected<ReportRequest> ParseReportRequest(std::string_view request);

// Replaces the file at `path` by `text` in one step, or leaves it as it was. A
// symbolic link is followed. What is no regular file (a FIFO, a terminal) and
// /dev/stdout and its like are appended to directly.
[[nodiscard]] Expected<void> WriteFileAtomically(const std::filesystem::path& path,
                                                 std::string_view text);

}  // namespace leakgate
