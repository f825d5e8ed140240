// Reads budget files: from a text, from a file, from all that a command line names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/budget/budget_file.h"

namespace leakgate {

// Parses the text of a budget file. An error is one line that names the file,
// the line, the column, the key and the remedy: "net.json:7:3: ...".
[[nodiscard]] Expected<BudgetFile> ParseBudgetFile(const std::filesystem::path& path,
                                                   const std::string& text);

// The files that are meant: each FILE, and every `*.leakgate.json` below each
// DIRECTORY; sorted by path, the same file once. Fails on a directory without any.
[[nodiscard]] Expected<std::vector<std::filesystem::path>> FindBudgetFiles(
    const std::vector<std::filesystem::path>& files_and_directories);

[[nodiscard]] Expected<std::string> ReadBudgetText(const std::filesystem::path& path);

// Reads all of those. Fails on the first bad one.
[[nodiscard]] Expected<std::vector<BudgetFile>> LoadBudgetFiles(
    const std::vector<std::filesystem::path>& files_and_directories);

}  // namespace leakgate
