// Reads each test's result from GoogleTest's own XML or JSON output, if the user has asked for one.
// GoogleTest's event stream does not distinguish a skipped test from a failed one.
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

// Returns where `program` writes its output, according to its arguments and the environment
// (GTEST_OUTPUT, XML_OUTPUT_FILE); nullopt if it writes none.
[[nodiscard]] std::optional<GtestOutput> FindGtestOutput(
    const std::string& program, const std::vector<std::string>& arguments,
    const std::vector<std::string>& environment);

// Returns the statuses in `text`; an empty map if it cannot be parsed.
[[nodiscard]] TestStatuses ParseGtestOutput(GtestOutputFormat format, const std::string& text);

// Returns the statuses in the output file; an empty map if it was not written after `begin`.
[[nodiscard]] TestStatuses ReadGtestOutput(const GtestOutput& output,
                                           std::filesystem::file_time_type begin);

}  // namespace leakgate
