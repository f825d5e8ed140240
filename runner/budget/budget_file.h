// One budget file, parsed: the limits that it sets for a component, each with
// the line it stands on. Plain values; how they apply is in budget_set.h.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/region_layout.h"
#include "runner/util/expected.h"

namespace leakgate {

// A limit on one number, and the line that sets it.
struct Limit {
  std::int64_t value = 0;
  int line = 0;

  friend bool operator==(const Limit&, const Limit&) = default;
};

// A missing member sets no limit.
struct AmountLimits {
  std::optional<Limit> bytes;
  std::optional<Limit> blocks;
};

struct WindowLimits {
  AmountLimits outstanding;
  AmountLimits growth;
};

struct ScopedLimits {
  WindowLimits test;
  WindowLimits suite;
  WindowLimits program;

  [[nodiscard]] const WindowLimits& For(WindowKind kind) const;
};

struct Override {
  std::vector<std::string> tests;  // GoogleTest filter patterns
  ScopedLimits limits;
  std::string reason;
  int line = 0;
};

struct BudgetFile {
  std::filesystem::path path;  // as given, for messages
  std::string component;
  std::string owner;                  // may be empty
  std::vector<std::string> tests;     // GoogleTest filter patterns; empty: every test
  std::vector<std::string> binaries;  // glob patterns of file names; empty: every binary
  ScopedLimits limits;
  std::vector<Override> overrides;  // where several match, the later one wins
};

// Parses the text of a budget file. An error is one line that names the file,
// the line, the key and the remedy: "net.json:7: ...".
[[nodiscard]] Expected<BudgetFile> ParseBudgetFile(const std::filesystem::path& path,
                                                   const std::string& text);

// Reads each FILE, and every `*.leakgate.json` below each DIRECTORY; sorted by
// path, the same file once. Fails on the first bad file, and on a directory
// without any.
[[nodiscard]] Expected<std::vector<BudgetFile>> LoadBudgetFiles(
    const std::vector<std::filesystem::path>& files_and_directories);

}  // namespace leakgate
