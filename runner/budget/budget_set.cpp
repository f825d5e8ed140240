#include "runner/budget/budget_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include "runner/budget/apply_limits.h"
#include "runner/budget/located_json.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

// Absolute, with links resolved as far as the path exists, and without the
// empty last component that a trailing "/" or "/." leaves.
fs::path Resolve(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  fs::path resolved = fs::weakly_canonical(error ? path : absolute, error);
  if (error) resolved = path.lexically_normal();
  return resolved.has_filename() ? resolved : resolved.parent_path();
}

bool AppliesTo(const BudgetFile& file, const std::string& binary_name) {
  return file.binaries.empty() ||
         std::any_of(file.binaries.begin(), file.binaries.end(),
                     [&](const std::string& glob) { return MatchesGlob(glob, binary_name); });
}

bool Covers(const BudgetFile& file, const TestId& test) {
  return file.tests.empty() || MatchesAnyFilter(file.tests, test.name);
}

// How deep `directory` is, if it contains `source`; else 0.
std::ptrdiff_t Rank(const fs::path& directory, const fs::path& source) {
  const auto [end, unused] =
      std::mismatch(directory.begin(), directory.end(), source.begin(), source.end());
  return end == directory.end() ? std::distance(directory.begin(), directory.end()) : 0;
}

Unexpected TestConflict(const TestId& test, const BudgetFile& first, const BudgetFile& second) {
  return UsageError(
      fmt::format("{} and {}: both cover {}, and neither is nearer to its source file; narrow "
                  "\"tests\" or \"binaries\" in one of them, or move it next to the test",
                  first.path.string(), second.path.string(), test.name));
}

Unexpected ProgramConflict(const BudgetFile& first, const BudgetFile& second,
                           const std::string& binary_name) {
  return ErrorAt(
      second.path, FirstLine(second.limits.program),
      fmt::format("limits.program: {}:{} limits the program window of {} as well; remove one of "
                  "the two, or narrow \"binaries\" in one of the files",
                  first.path.string(), FirstLine(first.limits.program), binary_name));
}

}  // namespace

BudgetSet::BudgetSet(std::vector<BudgetFile> files, const fs::path& binary)
    : binary_name_(binary.filename().string()) {
  for (BudgetFile& file : files) {
    if (!AppliesTo(file, binary_name_)) continue;
    // The links in the file's directory are resolved, not the file itself: a
    // link to a budget elsewhere stands where the link is.
    fs::path directory = Resolve(file.path.has_parent_path() ? file.path.parent_path() : ".");
    entries_.push_back({std::move(file), std::move(directory)});
  }
}

Expected<const BudgetFile*> BudgetSet::Winner(const TestId& test) const {
  std::vector<const Entry*> covering;
  for (const Entry& entry : entries_) {
    if (Covers(entry.file, test)) covering.push_back(&entry);
  }
  if (covering.empty()) return nullptr;
  // Spares the usual case, one file, from asking the file system.
  if (covering.size() == 1) return &covering.front()->file;

  const fs::path source = test.source_file.empty() ? fs::path() : Resolve(test.source_file);
  std::stable_sort(covering.begin(), covering.end(), [&](const Entry* a, const Entry* b) {
    return Rank(a->directory, source) > Rank(b->directory, source);
  });
  if (Rank(covering[0]->directory, source) == Rank(covering[1]->directory, source)) {
    return TestConflict(test, covering[0]->file, covering[1]->file);
  }
  return &covering.front()->file;
}

Expected<AppliedBudget> BudgetSet::ForTest(const TestId& test) const {
  const Expected<const BudgetFile*> winner = Winner(test);
  if (!winner) return Unexpected(winner.error());
  return WithDefault(*winner == nullptr ? AppliedBudget{}
                                        : ApplyLimits(**winner, WindowKind::kTest, {test.name}));
}

Expected<AppliedBudget> BudgetSet::ForSuite(const std::vector<TestId>& tests) const {
  const BudgetFile* common = nullptr;
  std::vector<std::string> names;
  for (const TestId& test : tests) {
    const Expected<const BudgetFile*> winner = Winner(test);
    if (!winner) return Unexpected(winner.error());
    if (*winner == nullptr || (common != nullptr && common != *winner)) return AppliedBudget{};
    common = *winner;
    names.push_back(test.name);
  }
  if (common == nullptr) return AppliedBudget{};
  return ApplyLimits(*common, WindowKind::kSuite, names);
}

Expected<AppliedBudget> BudgetSet::ForProgram() const {
  const BudgetFile* limiting = nullptr;
  for (const Entry& entry : entries_) {
    if (!SetsAnyLimit(entry.file.limits.program)) continue;
    if (limiting != nullptr) return ProgramConflict(*limiting, entry.file, binary_name_);
    limiting = &entry.file;
  }
  if (limiting == nullptr && entries_.size() == 1) limiting = &entries_.front().file;
  if (limiting == nullptr) return AppliedBudget{};
  return ApplyLimits(*limiting, WindowKind::kProgram, {});
}

Expected<void> BudgetSet::Check(const std::vector<TestId>& tests) const {
  for (const TestId& test : tests) {
    if (const auto winner = Winner(test); !winner) return Unexpected(winner.error());
  }
  if (const auto program = ForProgram(); !program) return Unexpected(program.error());
  return {};
}

}  // namespace leakgate
