#include "runner/results/budgets/component_budgets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "runner/attribution/stack_pattern.h"
#include "runner/attribution/suggested_pattern.h"
#include "runner/base/atomic_file.h"
#include "runner/base/path_text.h"
#include "runner/budget/apply_limits.h"
#include "runner/budget/read_budget.h"
#include "runner/budget/wording.h"
#include "runner/region/amount.h"
#include "runner/report/causes.h"
#include "runner/report/style.h"
#include "runner/report/summary_text.h"
#include "runner/results/budgets/initial_entries.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuppressed = "suppressed";  // the component without folders

std::string SuiteOf(const std::string& test) { return test.substr(0, test.find('.')); }

bool IsOfMemory(const Violation& violation) {
  return UnitOf(violation.metric) != MetricUnit::kNumber;
}

bool IsEmpty(const WindowResult& window) {
  return window.findings.empty() && window.mappings.empty() && window.free_errors.empty() &&
         window.violations.empty();
}

bool HasFailure(const WindowResult& window) {
  return std::any_of(window.findings.begin(), window.findings.end(), MakesFail) ||
         std::any_of(window.mappings.begin(), window.mappings.end(), MakesFail);
}

// Returns the entries for a pattern: one for each number of blocks that tests leave, so that one
// more block of any test fails.
std::vector<InitialEntry> ByBlocks(const InitialEntry& entry) {
  std::map<std::int64_t, InitialEntry> by_blocks;
  for (const auto& [filter, amount] : entry.needed) {
    InitialEntry& part = by_blocks[amount.blocks];
    part.allowance = entry.allowance;
    part.tests.push_back(filter);
    part.most = {std::max(part.most.bytes, amount.bytes), amount.blocks};
  }
  std::vector<InitialEntry> entries;
  for (auto& [blocks, part] : by_blocks) entries.push_back(std::move(part));
  return entries;
}

// Returns the path from `base` to `path`; nothing if that is not below it.
std::optional<fs::path> PathBelow(const fs::path& base, const fs::path& path) {
  fs::path relative = path.lexically_relative(base);
  const bool is_below = !relative.empty() && *relative.begin() != "..";
  return is_below ? std::optional(std::move(relative)) : std::nullopt;
}

}  // namespace

ComponentBudgets::ComponentBudgets(fs::path place, Split split)
    : place_(std::move(place)), split_(split) {
  if (split_ == Split::kNone) return;
  resolved_ = fs::canonical(place_);
  codeowners_ = FindCodeowners(resolved_);
}

Expected<ComponentBudgets> ComponentBudgets::In(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    return UsageError(
        fmt::format("--budgets {}: no such directory; name the one with the sources of the tests",
                    PathText(directory)));
  }
  const Expected<std::vector<fs::path>> files = FindBudgetFiles({directory});
  if (files) {
    return UsageError(fmt::format(
        "{}: exists already, and adopt writes budget files only where there are none; remove it, "
        "or name a folder without any: --budgets DIR",
        PathText(files->front())));
  }
  return ComponentBudgets(directory, Split::kByFolders);
}

void ComponentBudgets::FindSuppressed(const WindowResult& window) {
  if (suppressions_ == nullptr) return;
  for (const Finding& finding : window.findings) {
    const std::string reason = MakesFail(finding) ? suppressions_->ReasonFor(finding) : "";
    if (!reason.empty()) suppressed_[FilterOf(window)].emplace(SuggestPattern(finding), reason);
  }
}

std::string ComponentBudgets::SuppressedFor(const WindowResult& window,
                                            const Finding& finding) const {
  const auto found = suppressed_.find(FilterOf(window));
  if (found == suppressed_.end()) return "";
  const std::string reason = suppressions_->ReasonFor(finding);
  if (!reason.empty()) return reason;
  for (const auto& [pattern, of_pattern] : found->second) {
    if (!pattern.empty() && MatchesStack(pattern, finding.stack)) return of_pattern;
  }
  return "";
}

bool ComponentBudgets::HasEntry(const WindowResult& window, const Finding& finding) const {
  const bool is_wanted = split_ == Split::kByFolders || !SuppressedFor(window, finding).empty();
  return is_wanted && !SuggestPattern(finding).empty();
}

// Returns what of a failing window no allowance can cover.
WindowResult ComponentBudgets::WithoutEntries(WindowResult window) const {
  for (std::vector<Finding>* const findings : {&window.findings, &window.mappings}) {
    std::erase_if(*findings,
                  [&](const Finding& it) { return !MakesFail(it) || HasEntry(window, it); });
  }
  if (window.findings.empty() && window.mappings.empty()) {
    std::erase_if(window.violations, IsOfMemory);
  }
  return window;
}

// Returns what of it allowances can cover.
WindowResult ComponentBudgets::OnlyEntries(WindowResult window) const {
  for (std::vector<Finding>* const findings : {&window.findings, &window.mappings}) {
    std::erase_if(*findings,
                  [&](const Finding& it) { return MakesFail(it) && !HasEntry(window, it); });
  }
  window.free_errors.clear();
  std::erase_if(window.violations, [](const Violation& it) { return !IsOfMemory(it); });
  // A later run names the component, and is the same cause all the same.
  for (Violation& violation : window.violations) violation.component.clear();
  for (Finding& finding : window.findings) finding.component.clear();
  for (Finding& finding : window.mappings) finding.component.clear();
  window.budget = NoBudget();
  return window;
}

ComponentBudgets::Component* ComponentBudgets::ComponentOfSource(const std::string& source) {
  if (split_ == Split::kNone) {
    Component& only = components_[""];
    only.name = kSuppressed;
    only.file = place_;
    return &only;
  }
  std::error_code error;
  if (source.empty()) return nullptr;
  const fs::path file = fs::canonical(source, error);
  const std::optional<fs::path> below = error ? std::nullopt : PathBelow(resolved_, file);
  if (!below) return nullptr;
  fs::path folder = below->has_parent_path() ? *below->begin() : fs::path(".");
  std::string owner;
  if (codeowners_) {
    const auto owned = codeowners_->owners.OwnerOf(file.lexically_relative(codeowners_->root));
    if (owned) {
      owner = owned->owners;
      const auto named = PathBelow(resolved_, codeowners_->root / owned->folder);
      if (!owned->folder.empty() && named) folder = *named;
    }
  }
  const auto [known, is_new] = components_.try_emplace(folder);
  if (!is_new) return &known->second;
  const fs::path name = folder == "." ? resolved_.filename() : folder.filename();
  known->second.name = PathText(name);
  known->second.owner = std::move(owner);
  known->second.file =
      (place_ / folder / PathOf(PathText(name) + ".leakgate.json")).lexically_normal();
  return &known->second;
}

Expected<void> ComponentBudgets::AddTests(const std::string& binary, const TestSources& tests) {
  std::map<std::string, Component*>& known = tests_[binary];
  for (const auto& [test, source] : tests) {
    Component* const component = ComponentOfSource(source.file);
    known[test] = component;
    const auto [suite, is_new] = known.try_emplace(SuiteOf(test), component);
    if (!is_new && suite->second != component) suite->second = nullptr;
    has_tests_elsewhere_ |= component == nullptr;
    if (component == nullptr) continue;
    if (component->suites.empty()) {
      const Expected<void> fits = AtomicFile::CheckPlace(component->file);
      if (!fits) return UsageError(fits.error().message);
    }
    component->suites.insert(LiteralFilter(SuiteOf(test)) + ".*");
  }
  return {};
}

ComponentBudgets::Component* ComponentBudgets::ComponentOf(const std::string& binary,
                                                           const WindowResult& window) {
  const bool has_tests = window.kind == WindowKind::kTest || window.kind == WindowKind::kSuite;
  const std::map<std::string, Component*>& known = tests_[binary];
  const auto found = has_tests ? known.find(window.name) : known.end();
  return found == known.end() ? nullptr : found->second;
}

RunResult ComponentBudgets::Accept(const std::string& binary, const RunResult& run) {
  ++runs_;
  RunResult rest = run;
  rest.windows.clear();
  for (const WindowResult& window : run.windows) {
    if (window.verdict != Verdict::kOverBudget) continue;
    Component* const component = ComponentOf(binary, window);
    FindSuppressed(window);
    if (component == nullptr) {
      rest.windows.push_back(window);
      continue;
    }
    WindowResult accepted = OnlyEntries(window);
    accepted.iteration = runs_;
    if (HasFailure(accepted)) component->failing.push_back(std::move(accepted));
    WindowResult left = WithoutEntries(window);
    if (!IsEmpty(left)) rest.windows.push_back(std::move(left));
  }
  return rest;
}

Expected<void> ComponentBudgets::Write() {
  if (!HasFiles()) return {};
  for (auto& [folder, component] : components_) {
    const Expected<void> written = WriteFileAtomically(component.file, FileText(component));
    if (!written) return written;
  }
  return {};
}

std::string ComponentBudgets::FileText(Component& component) const {
  std::vector<const WindowResult*> failing;
  for (const WindowResult& window : component.failing) failing.push_back(&window);
  const std::string reason =
      fmt::format("found by leakgate adopt on {}; fix it, or say why it stays", DateText(Today()));
  const std::vector<std::string> all_suites(component.suites.begin(), component.suites.end());
  const auto reason_of = [&](const WindowResult& window, const Finding& finding) {
    const std::string suppressed = SuppressedFor(window, finding);
    return suppressed.empty() ? reason : suppressed;
  };
  const InitialEntries found(std::move(failing), EntryScope::kSeenTests, reason_of);
  std::vector<std::string> allowances;
  for (const InitialEntry& entry : found.entries()) {
    std::set<std::string>& seen = component.seen_tests[entry.allowance.stack];
    const std::size_t seen_before = seen.size();
    seen.insert(entry.tests.begin(), entry.tests.end());
    if (seen_before != 0 && seen.size() != seen_before) {
      component.moving.insert(entry.allowance.stack);
    }
    if (component.moving.contains(entry.allowance.stack)) {
      allowances.push_back(EntryText({entry.allowance, all_suites, entry.most, {}}));
      continue;
    }
    for (const InitialEntry& part : ByBlocks(entry)) allowances.push_back(EntryText(part));
  }
  std::sort(allowances.begin(), allowances.end());
  std::string text = fmt::format("{{\n  \"component\": {},\n", Quoted(component.name));
  if (!component.owner.empty()) text += fmt::format("  \"owner\": {},\n", Quoted(component.owner));
  // The file would cover tests that lie in no component's folder, as would the others.
  if (has_tests_elsewhere_) text += fmt::format("  \"tests\": {},\n", JsonList(all_suites));
  text += fmt::format("  \"allowances\": [{}{}]\n}}\n", fmt::join(allowances, ","),
                      allowances.empty() ? "" : "\n  ");
  return text;
}

bool ComponentBudgets::HasCauses() const {
  return std::any_of(components_.begin(), components_.end(),
                     [](const auto& it) { return !it.second.failing.empty(); });
}

std::string ComponentBudgets::Text(const std::string& base_directory) const {
  constexpr std::size_t kMostShownOfOne = 5;
  std::string text;
  if (!HasFiles()) return text;
  for (const auto& [folder, component] : components_) {
    const std::string file = Printable(PathText(component.file));
    const std::vector<WindowResult> failing(component.failing.begin(), component.failing.end());
    std::vector<Cause> causes = CollectCauses(failing);
    const std::size_t count = causes.size();
    causes.resize(std::min(count, kMostShownOfOne));
    text += fmt::format(
        "leakgate: {} (component {}{}) {}\n", file, Printable(component.name),
        component.owner.empty() ? "" : ", owner " + Printable(component.owner),
        count == 0
            ? "has to accept nothing"
            : fmt::format("accepts {}:", FormatCount(static_cast<std::int64_t>(count), "cause")));
    if (count != 0) text += CauseTable(causes, base_directory, count, file + " has each");
  }
  return text;
}

}  // namespace leakgate
