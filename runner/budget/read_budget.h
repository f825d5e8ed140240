// Reads budget files. All errors are usage errors of one line.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/expected.h"
#include "runner/budget/budget_file.h"

namespace leakgate {

// Parses the text of a budget file. The error names the place, the key, the problem and the remedy:
// "net.json:7:3: owner: is empty; ...".
[[nodiscard]] Expected<BudgetFile> ParseBudgetFile(const std::filesystem::path& path,
                                                   const std::string& text);

// Returns the given files, and every `*.leakgate.json` below the given directories, sorted by path
// and without duplicates. Fails if a directory contains no such file, or cannot be read.
[[nodiscard]] Expected<std::vector<std::filesystem::path>> FindBudgetFiles(
    const std::vector<std::filesystem::path>& files_and_directories);

// Fails if `path` is not a regular file, cannot be read, or is larger than 64 MiB.
[[nodiscard]] Expected<std::string> ReadBudgetText(const std::filesystem::path& path);

// Finds, reads and parses budget files. Fails at the first bad file.
[[nodiscard]] Expected<std::vector<BudgetFile>> LoadBudgetFiles(
    const std::vector<std::filesystem::path>& files_and_directories);

// Returns the published schema of budget files, docs/leakgate-budget-1.schema.json, which is
// compiled into the runner.
[[nodiscard]] std::string_view BudgetSchemaText();

}  // namespace leakgate
