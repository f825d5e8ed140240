#include "runner/budget/budget_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/budget/apply_limits.h"
#include "runner/budget/located_json.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

// Makes `path` absolute, resolves links as far as the path exists, and removes the empty last
// component that a "/" or "/." at the end leaves.
fs::path Resolve(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  fs::path resolved = fs::weakly_canonical(error ? path : absolute, error);
  if (error) resolved = path.lexically_normal();
  return resolved.has_filename() ? resolved : resolved.parent_path();
}

// Resolves the links in the directory of `file`, but not `file` itself: if that is a link, its own
// place counts, not the place of its target.
fs::path ResolveDirectory(const fs::path& file) {
  return Resolve(file.has_parent_path() ? file.parent_path() : ".") / file.filename();
}

bool OwnsCode(const BudgetFile& file) { return !file.code.empty() || file.component == kUnowned; }

// True if the file is for code only, and so covers no test.
bool CoversCodeOnly(const BudgetFile& file) { return file.tests.empty() && OwnsCode(file); }

bool AppliesTo(const BudgetFile& file, const std::string& binary_name) {
  return file.binaries.empty() ||
         std::any_of(file.binaries.begin(), file.binaries.end(), [&](const std::string& glob) {
           return MatchesGlob(ComparedName(glob), ComparedName(binary_name));
         });
}

bool Covers(const BudgetFile& file, const TestId& test) {
  if (file.tests.empty()) return !CoversCodeOnly(file);
  return MatchesAnyFilter(file.tests, test.name);
}

// Returns the depth of `directory` if it contains `source`, or else 0.
std::ptrdiff_t RankDirectory(const fs::path& directory, const fs::path& source) {
  const auto [end, unused] = std::mismatch(
      directory.begin(), directory.end(), source.begin(), source.end(),
      [](const fs::path& a, const fs::path& b) {
        return a == b || (kFoldsNames && FoldedPath(PathText(a)) == FoldedPath(PathText(b)));
      });
  return end == directory.end() ? std::distance(directory.begin(), directory.end()) : 0;
}

Unexpected TestConflict(const TestId& test, const BudgetFile& first, const BudgetFile& second) {
  return UsageError(
      fmt::format("{} and {}: both cover {}, and neither is nearer to its source file; narrow "
                  "\"tests\" or \"binaries\" in one of them, or move it next to the test",
                  PathText(first.path), PathText(second.path), test.name));
}

// REQUIRES: both files set program limits.
Unexpected ProgramConflict(const BudgetFile& first, const BudgetFile& second,
                           const std::string& binary_name) {
  const Limit here = FirstLimit(second.limits.program).value();
  return ErrorAt(second.path, {here.line, here.column},
                 fmt::format("limits.program: {}:{} limits the program {} as well; remove one of "
                             "the two, or narrow \"binaries\" in one of the files",
                             PathText(first.path), FirstLimit(first.limits.program).value().line,
                             binary_name));
}

// Returns the length of the longest pattern of `file` that matches `image`; 0 if none does.
std::size_t LongestMatch(const BudgetFile& file, const std::string& image) {
  std::size_t longest = 0;
  for (const ProcessPattern& pattern : file.processes) {
    if (MatchesGlob(pattern.glob, image)) longest = std::max(longest, pattern.glob.size());
  }
  return longest;
}

Unexpected ProcessConflict(const std::string& image, const BudgetFile& first,
                           const BudgetFile& second) {
  return UsageError(
      fmt::format("{} and {}: both name the process {}, by patterns of the same length; write its "
                  "name out in \"processes\" of one of them",
                  PathText(first.path), PathText(second.path), image));
}

}  // namespace

bool UsesDefaultPolicy(const AppliedBudget& budget) { return !IsLimited(budget.outstanding); }

BudgetSet::BudgetSet(std::vector<BudgetFile> files, const fs::path& binary,
                     std::chrono::year_month_day today)
    : binary_name_(PathText(binary.filename())), today_(today) {
  for (BudgetFile& file : files) {
    if (!AppliesTo(file, binary_name_)) {
      others_.push_back(std::move(file));
      continue;
    }
    fs::path directory = ResolveDirectory(file.path).parent_path();
    entries_.push_back({std::move(file), std::move(directory)});
  }
}

std::vector<BudgetCandidate> BudgetSet::Candidates(const TestId& test) const {
  std::vector<const Entry*> covering;
  for (const Entry& entry : entries_) {
    if (Covers(entry.file, test)) covering.push_back(&entry);
  }
  // In the usual case there is none or one, and the file system need not be asked.
  if (covering.empty()) return {};
  if (covering.size() == 1) return {{&covering.front()->file, 0}};

  const bool has_source = !test.source_file.empty();
  const fs::path source = has_source ? Resolve(PathOf(test.source_file)) : fs::path();
  // Bazel's runfiles contain links to sources beside the budgets. So the link's own place counts,
  // too.
  const fs::path link = has_source ? ResolveDirectory(PathOf(test.source_file)) : fs::path();
  std::vector<BudgetCandidate> candidates;
  for (const Entry* entry : covering) {
    const std::ptrdiff_t depth =
        std::max(RankDirectory(entry->directory, source), RankDirectory(entry->directory, link));
    candidates.push_back({&entry->file, depth});
  }
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [](const BudgetCandidate& a, const BudgetCandidate& b) { return a.depth > b.depth; });
  return candidates;
}

std::vector<const BudgetFile*> BudgetSet::Files() const {
  std::vector<const BudgetFile*> files;
  for (const Entry& entry : entries_) files.push_back(&entry.file);
  return files;
}

Expected<const BudgetFile*> BudgetSet::FindWinner(const TestId& test) const {
  const std::vector<BudgetCandidate> candidates = Candidates(test);
  if (candidates.empty()) return nullptr;
  if (candidates.size() > 1 && candidates[0].depth == candidates[1].depth) {
    return TestConflict(test, *candidates[0].file, *candidates[1].file);
  }
  return candidates.front().file;
}

Expected<AppliedBudget> BudgetSet::ForTest(const TestId& test) const {
  LEAKGATE_TRY_ASSIGN(const BudgetFile* winner, FindWinner(test));
  if (winner == nullptr) return AppliedBudget{};
  return ApplyLimits(*winner, {WindowKind::kTest, {test.name}, today_});
}

Expected<AppliedBudget> BudgetSet::ForSuite(const std::vector<TestId>& tests) const {
  const BudgetFile* common = nullptr;
  std::vector<std::string> names;
  for (const TestId& test : tests) {
    LEAKGATE_TRY_ASSIGN(const BudgetFile* winner, FindWinner(test));
    if (winner == nullptr || (common != nullptr && common != winner)) return AppliedBudget{};
    common = winner;
    names.push_back(test.name);
  }
  if (common == nullptr) return AppliedBudget{};
  return ApplyLimits(*common, {WindowKind::kSuite, names, today_});
}

namespace {

Expected<AppliedBudget> WithoutLimits(Expected<AppliedBudget> budget) {
  if (!budget) return budget;
  AppliedBudget kept;
  kept.component = std::move(budget->component);
  kept.owner = std::move(budget->owner);
  kept.file = std::move(budget->file);
  kept.thread_scope = budget->thread_scope;
  kept.allowances = std::move(budget->allowances);
  return kept;
}

}  // namespace

Expected<AppliedBudget> BudgetSet::ForWholeProcess(WindowKind kind) const {
  const BudgetFile* limiting = nullptr;
  std::vector<const BudgetFile*> applying;
  for (const Entry& entry : entries_) {
    if (CoversCodeOnly(entry.file)) continue;
    applying.push_back(&entry.file);
    if (kind != WindowKind::kProgram || !FirstLimit(entry.file.limits.program)) continue;
    if (limiting != nullptr) return ProgramConflict(*limiting, entry.file, binary_name_);
    limiting = &entry.file;
  }
  if (limiting == nullptr && applying.size() == 1) limiting = applying.front();
  if (limiting == nullptr) return AppliedBudget{};
  return ApplyLimits(*limiting, {kind, {}, today_});
}

Expected<AppliedBudget> BudgetSet::ForProgram() const {
  return ForWholeProcess(WindowKind::kProgram);
}

bool BudgetSet::NamesProcesses() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return !entry.file.processes.empty(); });
}

bool BudgetSet::NamesProcess(const std::string& image) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return LongestMatch(entry.file, image) != 0; });
}

Expected<AppliedBudget> BudgetSet::ForProcess(const std::string& image,
                                              const TestId& started_by) const {
  BudgetedWindow window{WindowKind::kProcess, {}, today_};
  if (!started_by.name.empty()) {
    window.tests = {started_by.name};
    LEAKGATE_TRY_ASSIGN(const BudgetFile* own, FindWinner(started_by));
    if (own != nullptr && LongestMatch(*own, image) != 0) return ApplyLimits(*own, window);
  }
  const BudgetFile* winner = nullptr;
  const BudgetFile* rival = nullptr;
  std::size_t longest = 0;
  for (const Entry& entry : entries_) {
    const std::size_t length = LongestMatch(entry.file, image);
    if (length == 0 || length < longest) continue;
    rival = length == longest ? winner : nullptr;
    winner = &entry.file;
    longest = length;
  }
  if (winner == nullptr) return WithoutLimits(ForWholeProcess(WindowKind::kProcess));
  if (rival != nullptr) return ProcessConflict(image, *rival, *winner);
  return ApplyLimits(*winner, window);
}

std::vector<const BudgetFile*> BudgetSet::CodeOwners() const {
  std::vector<const BudgetFile*> owners;
  for (const Entry& entry : entries_) {
    if (OwnsCode(entry.file)) owners.push_back(&entry.file);
  }
  return owners;
}

AppliedBudget BudgetSet::ForCode(const BudgetFile& file, WindowKind kind,
                                 const std::vector<std::string>& tests) const {
  return ApplyLimits(file, {kind, tests, today_});
}

std::vector<std::string> BudgetSet::ListExpired() const {
  std::vector<std::string> lines;
  for (const Entry& entry : entries_) {
    for (std::string& line : ExpiredEntries(entry.file, today_)) lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> BudgetSet::UnseenProcesses(const std::vector<TestId>& tests,
                                                    const std::set<std::string>& seen) const {
  std::set<const BudgetFile*> covering;
  for (const TestId& test : tests) {
    const Expected<const BudgetFile*> winner = FindWinner(test);
    if (winner) covering.insert(*winner);
  }
  std::vector<std::string> lines;
  for (const Entry& entry : entries_) {
    const bool is_of_every_run =
        entry.file.tests.empty() && (CoversCodeOnly(entry.file) || tests.empty());
    if (!is_of_every_run && !covering.contains(&entry.file)) continue;
    for (const ProcessPattern& pattern : entry.file.processes) {
      const bool is_seen = std::any_of(seen.begin(), seen.end(), [&](const std::string& image) {
        return MatchesGlob(pattern.glob, image);
      });
      if (is_seen) continue;
      const bool is_itself = MatchesGlob(pattern.glob, binary_name_);
      lines.push_back(fmt::format(
          "{}:{}: no process \"{}\" was started, so none was judged; {}", PathText(entry.file.path),
          pattern.line, pattern.glob,
          is_itself ? "the program under test has that name, but neither it nor its death tests "
                      "are meant: name what its tests start"
                    : "correct the name (that of the executable file, links resolved; of a "
                      "script, its interpreter's), or have the tests run that start it"));
    }
  }
  return lines;
}

std::string BudgetSet::WhyUnused(const BudgetFile& file, const std::set<std::string>& tests) const {
  if (!AppliesTo(file, binary_name_)) {
    return fmt::format("binaries: {} does not match {}, so the file covers nothing of it",
                       QuotedList({file.binaries.begin(), file.binaries.end()}, "or"),
                       binary_name_);
  }
  const bool matches =
      file.tests.empty() || std::any_of(tests.begin(), tests.end(), [&](const std::string& test) {
        return MatchesAnyFilter(file.tests, test);
      });
  if (matches) return "";
  return fmt::format("tests: {} matches no test of {}, so the file covers none",
                     QuotedList({file.tests.begin(), file.tests.end()}, "or"), binary_name_);
}

std::vector<std::string> BudgetSet::UnusedFiles(const std::vector<fs::path>& given,
                                                const std::set<std::string>& tests) const {
  std::vector<const BudgetFile*> files = Files();
  for (const BudgetFile& other : others_) files.push_back(&other);
  std::vector<std::string> lines;
  bool any_is_used = false;
  for (const BudgetFile* const file : files) {
    const std::string why = WhyUnused(*file, tests);
    any_is_used |= why.empty();
    const bool is_named = std::find(given.begin(), given.end(), file->path) != given.end();
    const bool names_binary = !file->binaries.empty() && AppliesTo(*file, binary_name_);
    if (why.empty() || (!is_named && !names_binary)) continue;
    lines.push_back(
        fmt::format("{}: {}; correct it, or leave the file out", PathText(file->path), why));
  }
  if (any_is_used || !lines.empty() || files.empty()) return lines;
  return {
      fmt::format("none of the {} budget files covers {} or a test of it; correct \"binaries\" and "
                  "\"tests\", or name other files",
                  files.size(), binary_name_)};
}

Expected<void> BudgetSet::Check(const std::vector<TestId>& tests) const {
  for (const TestId& test : tests) {
    LEAKGATE_TRY_ASSIGN([[maybe_unused]] const auto budget, FindWinner(test));
  }
  LEAKGATE_TRY_ASSIGN([[maybe_unused]] const auto budget, ForProgram());
  return {};
}

bool BudgetSet::AnyLimits(bool (*limits)(const WindowLimits&)) const {
  const auto any = [limits](const ScopedLimits& scoped) {
    return limits(scoped.test) || limits(scoped.suite) || limits(scoped.program) ||
           limits(scoped.process);
  };
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    const std::vector<Override>& overrides = entry.file.overrides;
    return any(entry.file.limits) ||
           std::any_of(overrides.begin(), overrides.end(),
                       [&](const Override& candidate) { return any(candidate.limits); });
  });
}

bool BudgetSet::LimitsMapped() const {
  return AnyLimits(
      [](const WindowLimits& limits) { return limits.mapped.bytes || limits.mapped.blocks; });
}

bool BudgetSet::LimitsTemporary() const {
  return AnyLimits(
      [](const WindowLimits& limits) { return limits.temporary.bytes || limits.temporary.blocks; });
}

bool BudgetSet::LimitsResources() const {
  return AnyLimits(
      [](const WindowLimits& limits) { return limits.file_descriptors || limits.threads; });
}

bool BudgetSet::DefersToSuites() const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    const std::vector<Override>& overrides = entry.file.overrides;
    return entry.file.free_by == FreeBy::kSuite ||
           std::any_of(overrides.begin(), overrides.end(), [](const Override& candidate) {
             return candidate.free_by == FreeBy::kSuite;
           });
  });
}

}  // namespace leakgate
