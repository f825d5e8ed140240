#include "runner/budget/read_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <tuple>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/base/regular_file.h"
#include "runner/budget/json_fields.h"
#include "runner/budget/located_json.h"
#include "runner/budget/read_allocators.h"
#include "runner/budget/read_limits.h"
#include "runner/budget/wording.h"

namespace leakgate {
namespace {

constexpr std::string_view kComponentExample = R"("net")";
constexpr std::string_view kBinariesExample = R"("net_*")";
constexpr std::string_view kProcessesExample = R"("helper*")";
constexpr std::string_view kWrappersExample = R"("xmalloc")";
constexpr std::string_view kPathsExample = R"("src/net/*")";
constexpr std::string_view kFunctionsExample = R"("net::*")";
constexpr std::string_view kModulesExample = R"("libnet.so*")";
constexpr std::string_view kCodeExample = R"({"paths": ["src/net/*"]})";
constexpr std::string_view kBudgetExample =
    R"({"component": "net", "limits": {"test": {"outstanding": {"bytes": 0}}}})";

Expected<std::vector<ProcessPattern>> ReadProcesses(const LocatedValue& value,
                                                    const JsonPlace& place) {
  LEAKGATE_TRY_ASSIGN(const std::vector<std::string> globs,
                      ReadTexts(value, place, kProcessesExample));
  std::vector<ProcessPattern> patterns;
  for (const std::string& glob : globs) {
    const LocatedValue& element = value.elements[patterns.size()];
    const std::size_t slash = glob.rfind('/');
    if (slash != std::string::npos) {
      const Unexpected bad = place.Element(patterns.size())
                                 .ErrorAt(element, fmt::format("a file name has no '/'; write {}",
                                                               Quoted(glob.substr(slash + 1))));
      LEAKGATE_TRY(place.Keep(bad.value()));
    }
    patterns.push_back({glob, element.line});
  }
  return patterns;
}

Expected<CodePatterns> ReadCode(const LocatedValue& value, const JsonPlace& place) {
  CodePatterns code;
  LEAKGATE_TRY(
      ReadNonEmptyObject(value, place,
                         {{"paths", Into(code.paths, ReadTexts, kPathsExample)},
                          {"functions", Into(code.functions, ReadTexts, kFunctionsExample)},
                          {"modules", Into(code.modules, ReadTexts, kModulesExample)}},
                         kCodeExample));
  return code;
}

Expected<void> Ignore(const LocatedValue&, const JsonPlace&) { return {}; }

// Returns the fields of a budget file, which store what they read in `budget`.
std::vector<JsonField> FieldsOf(BudgetFile& budget) {
  return {
      {"$schema", Ignore},
      {"component", Into(budget.component, ReadText, kComponentExample), R"("component": "NAME")"},
      {"owner", Into(budget.owner, ReadText, kOwnerExample)},
      {"tests", Into(budget.tests, ReadTexts, kTestsExample)},
      {"binaries", Into(budget.binaries, ReadTexts, kBinariesExample)},
      {"code", Into(budget.code, ReadCode)},
      {"processes", Into(budget.processes, ReadProcesses)},
      {"wrappers", Into(budget.wrappers, ReadTexts, kWrappersExample)},
      {"allocators", Into(budget.allocators, ReadAllocators)},
      {"free_by", Into(budget.free_by, ReadWord<FreeBy>)},
      {"confirm", Into(budget.confirm, ReadWord<Confirm>)},
      {"contents", Into(budget.contents, ReadYesOrNo)},
      {"threads", Into(budget.thread_scope, ReadWord<ThreadScope>)},
      {"limits", Into(budget.limits, ReadLimits)},
      {"overrides", Into(budget.overrides, ReadOverrides)},
      {"allowances", Into(budget.allowances, ReadAllowances)}};
}

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".leakgate.json";

struct FoundFile {
  fs::path path;       // as given
  fs::path canonical;  // equal for two paths of the same file
};

Unexpected Unreadable(const fs::path& path, const std::error_code& cause) {
  return UsageError(fmt::format("{}: cannot be read: {}; check the path and its permissions",
                                PathText(path), cause.message()));
}

// A link that leads nowhere and a FIFO count, too, so that reading them fails: otherwise nobody
// would notice that a budget is missing.
bool IsBudgetEntry(const fs::directory_entry& entry) {
  std::error_code ignored;
  return PathText(entry.path().filename()).ends_with(kSuffix) && !entry.is_directory(ignored);
}

Expected<std::vector<fs::path>> FindBudgetsBelow(const fs::path& directory) {
  std::vector<fs::path> budgets;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!IsBudgetEntry(*entry)) continue;
    // The path is "net/net.leakgate.json", not "./net/net.leakgate.json".
    budgets.push_back(directory == "." ? entry->path().lexically_relative(".") : entry->path());
  }
  if (error) return Unreadable(directory, error);
  if (budgets.empty()) {
    return UsageError(
        fmt::format("{}: holds no *{}; name a budget file, or a directory with one in or below it",
                    PathText(directory), kSuffix));
  }
  return budgets;
}

Expected<std::vector<fs::path>> Expand(const fs::path& file_or_directory) {
  std::error_code error;
  const bool is_directory = fs::is_directory(file_or_directory, error);
  if (error) return Unreadable(file_or_directory, error);
  if (is_directory) return FindBudgetsBelow(file_or_directory);
  return std::vector<fs::path>{file_or_directory};
}

FoundFile Locate(const fs::path& path) {
  std::error_code error;
  fs::path canonical = fs::canonical(path, error);
  return {path, error ? fs::absolute(path).lexically_normal() : std::move(canonical)};
}

// Sorts the files, and removes duplicates.
std::vector<FoundFile> SortDistinct(const std::vector<fs::path>& paths) {
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

Expected<BudgetFile> ParseBudgetFile(const std::filesystem::path& path, const std::string& text) {
  LEAKGATE_TRY_ASSIGN(const LocatedValue json, ParseLocatedJson(path, text));

  BudgetFile budget;
  budget.path = path;
  LEAKGATE_TRY(ReadObject(json, {path, ""}, FieldsOf(budget), kBudgetExample));
  return budget;
}

std::vector<std::string> ListErrors(const std::filesystem::path& path, const std::string& text) {
  const Expected<LocatedValue> json = ParseLocatedJson(path, text);
  if (!json) return {json.error().message};
  BudgetFile budget;
  std::vector<Error> errors;
  const Expected<void> read =
      ReadObject(*json, {path, "", &errors}, FieldsOf(budget), kBudgetExample);
  std::vector<std::string> lines;
  for (const Error& error : errors) lines.push_back(error.message);
  if (!read) lines.push_back(read.error().message);
  return lines;
}

Expected<std::vector<fs::path>> FindBudgetFiles(
    const std::vector<fs::path>& files_and_directories) {
  std::vector<fs::path> paths;
  for (const fs::path& given : files_and_directories) {
    LEAKGATE_TRY_ASSIGN(std::vector<fs::path> expanded, Expand(given));
    paths.insert(paths.end(), expanded.begin(), expanded.end());
  }
  std::vector<fs::path> distinct;
  for (FoundFile& file : SortDistinct(paths)) distinct.push_back(std::move(file.path));
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
  LEAKGATE_TRY_ASSIGN(const std::vector<fs::path> paths, FindBudgetFiles(files_and_directories));
  std::vector<BudgetFile> budgets;
  for (const fs::path& path : paths) {
    LEAKGATE_TRY_ASSIGN(const std::string text, ReadBudgetText(path));
    LEAKGATE_TRY_ASSIGN(BudgetFile budget, ParseBudgetFile(path, text));
    budgets.push_back(std::move(budget));
  }
  return budgets;
}

}  // namespace leakgate
