// Each test's result from GoogleTest's own XML or JSON output, where the user
// has asked for one: GoogleTest's stream of events cannot tell a skipped test
// from a failed one.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/result/run_result.h"

namespace leakgate {

using TestStatuses = std::map<std::string, TestStatus>;  // by "Suite.Test"

enum class GtestOutputFormat { kXml, kJson };

struct GtestOutput {
  GtestOutputFormat format = GtestOutputFormat::kXml;
  std::filesystem::path path;
};

// Where `program` writes its output, by its arguments and the environment
// (GTEST_OUTPUT, XML_OUTPUT_FILE): nullopt if it writes none.
[[nodiscard]] std::optional<GtestOutput> FindGtestOutput(
    const std::string& program, const std::vector<std::string>& arguments,
    const std::vector<std::string>& environment);

// The statuses that the text tells; none if it cannot be parsed.
[[nodiscard]] TestStatuses ParseGtestOutput(GtestOutputFormat format, const std::string& text);

// The same from the file, if it was written after `begin`.
[[nodiscard]] TestStatuses ReadGtestOutput(const GtestOutput& output,
                                           std::filesystem::file_time_type begin);

}  // namespace leakgate
