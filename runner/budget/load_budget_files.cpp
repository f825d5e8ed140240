// Which budget files are meant, and their text: the only part of budgets that
// reads directories.
#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <tuple>
#include <utility>

#include "runner/budget/budget_file.h"
#include "runner/util/linux/regular_file.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".leakgate.json";

// A path as given, and what tells that two of them are the same file.
struct FoundFile {
  fs::path path;
  fs::path canonical;
};

Unexpected Unreadable(const fs::path& path, const std::error_code& cause) {
  return UsageError(fmt::format("{}: cannot be read: {}; check the path and its permissions",
                                path.string(), cause.message()));
}

// A dangling link counts, and so does a FIFO: the budget that it stands for is missed when read.
bool IsBudgetEntry(const fs::directory_entry& entry) {
  std::error_code ignored;
  return entry.path().filename().string().ends_with(kSuffix) && !entry.is_directory(ignored);
}

Expected<std::vector<fs::path>> BudgetsBelow(const fs::path& directory) {
  std::vector<fs::path> budgets;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!IsBudgetEntry(*entry)) continue;
    // Not "./net/net.leakgate.json".
    budgets.push_back(directory == "." ? entry->path().lexically_relative(".") : entry->path());
  }
  if (error) return Unreadable(directory, error);
  if (budgets.empty()) {
    return UsageError(
        fmt::format("{}: holds no *{}; name a budget file, or a directory with one in or below it",
                    directory.string(), kSuffix));
  }
  return budgets;
}

Expected<std::vector<fs::path>> Expand(const fs::path& file_or_directory) {
  std::error_code error;
  const bool is_directory = fs::is_directory(file_or_directory, error);
  if (error) return Unreadable(file_or_directory, error);
  if (is_directory) return BudgetsBelow(file_or_directory);
  return std::vector<fs::path>{file_or_directory};
}

FoundFile Locate(const fs::path& path) {
  std::error_code error;
  fs::path canonical = fs::canonical(path, error);
  return {path, error ? fs::absolute(path).lexically_normal() : std::move(canonical)};
}

// Sorted, and the same file once.
std::vector<FoundFile> Distinct(const std::vector<fs::path>& paths) {
  std::vector<FoundFile> files;
  std::transform(paths.begin(), paths.end(), std::back_inserter(files), Locate);
  std::sort(files.begin(), files.end(), [](const FoundFile& a, const FoundFile& b) {
    return std::tie(a.canonical, a.path) < std::tie(b.canonical, b.path);
  });
  files.erase(std::unique(files.begin(), files.end(),
                          [](const FoundFile& a, const FoundFile& b) {
                            return a.canonical == b.canonical;
                          }),
              files.end());
  return files;
}

}  // namespace

Expected<std::vector<fs::path>> FindBudgetFiles(
    const std::vector<fs::path>& files_and_directories) {
  std::vector<fs::path> paths;
  for (const fs::path& given : files_and_directories) {
    Expected<std::vector<fs::path>> expanded = Expand(given);
    if (!expanded) return Unexpected(std::move(expanded).error());
    paths.insert(paths.end(), expanded->begin(), expanded->end());
  }
  std::vector<fs::path> distinct;
  for (FoundFile& file : Distinct(paths)) distinct.push_back(std::move(file.path));
  return distinct;
}

Expected<std::string> ReadBudgetText(const fs::path& path) {
  constexpr std::uint64_t kMostBytes = 64UL * 1024 * 1024;
  auto text = ReadRegularFile(path, kMostBytes);
  if (!text) return Unreadable(path, text.error());
  return *std::move(text);
}

Expected<std::vector<BudgetFile>> LoadBudgetFiles(
    const std::vector<fs::path>& files_and_directories) {
  const Expected<std::vector<fs::path>> paths = FindBudgetFiles(files_and_directories);
  if (!paths) return Unexpected(paths.error());
  std::vector<BudgetFile> budgets;
  for (const fs::path& path : *paths) {
    const Expected<std::string> text = ReadBudgetText(path);
    if (!text) return Unexpected(text.error());
    Expected<BudgetFile> budget = ParseBudgetFile(path, *text);
    if (!budget) return Unexpected(std::move(budget).error());
    budgets.push_back(*std::move(budget));
  }
  return budgets;
}

}  // namespace leakgate
