#include "runner/budget/budget_file.h"

#include <fmt/format.h>

#include "runner/budget/json_fields.h"
#include "runner/budget/located_json.h"
#include "runner/budget/read_exceptions.h"
#include "runner/budget/read_limits.h"
#include "runner/budget/read_terms.h"
#include "runner/budget/wording.h"

namespace leakgate {
namespace {

constexpr std::string_view kComponentExample = R"("net")";
constexpr std::string_view kBinariesExample = R"("net_*")";
constexpr std::string_view kProcessesExample = R"("helper*")";
constexpr std::string_view kPathsExample = R"("src/net/*")";
constexpr std::string_view kFunctionsExample = R"("net::*")";
constexpr std::string_view kModulesExample = R"("libnet.so*")";
constexpr std::string_view kCodeExample = R"({"paths": ["src/net/*"]})";
constexpr std::string_view kBudgetExample =
    R"({"component": "net", "limits": {"test": {"outstanding": {"bytes": 0}}}})";

Expected<std::string> ReadComponent(const LocatedValue& value, const JsonPlace& place) {
  return ReadText(value, place, kComponentExample);
}

Expected<std::vector<std::string>> ReadBinaries(const LocatedValue& value, const JsonPlace& place) {
  return ReadTexts(value, place, kBinariesExample);
}

Expected<std::vector<ProcessPattern>> ReadProcesses(const LocatedValue& value,
                                                    const JsonPlace& place) {
  const Expected<std::vector<std::string>> globs = ReadTexts(value, place, kProcessesExample);
  if (!globs) return Unexpected(globs.error());
  std::vector<ProcessPattern> patterns;
  for (const std::string& glob : *globs) {
    const LocatedValue& element = value.elements[patterns.size()];
    const std::size_t slash = glob.rfind('/');
    if (slash != std::string::npos) {
      return place.Element(patterns.size())
          .ErrorAt(element,
                   fmt::format("a file name has no '/'; write {}", Quoted(glob.substr(slash + 1))));
    }
    patterns.push_back({glob, element.line});
  }
  return patterns;
}

Expected<std::vector<std::string>> ReadPaths(const LocatedValue& value, const JsonPlace& place) {
  return ReadTexts(value, place, kPathsExample);
}

Expected<std::vector<std::string>> ReadFunctions(const LocatedValue& value,
                                                 const JsonPlace& place) {
  return ReadTexts(value, place, kFunctionsExample);
}

Expected<std::vector<std::string>> ReadModules(const LocatedValue& value, const JsonPlace& place) {
  return ReadTexts(value, place, kModulesExample);
}

Expected<CodePatterns> ReadCode(const LocatedValue& value, const JsonPlace& place) {
  CodePatterns code;
  const Expected<void> read =
      ReadNonEmptyObject(value, place,
                         {{"paths", Into(code.paths, ReadPaths)},
                          {"functions", Into(code.functions, ReadFunctions)},
                          {"modules", Into(code.modules, ReadModules)}},
                         kCodeExample);
  if (!read) return Unexpected(read.error());
  return code;
}

Expected<void> Ignore(const LocatedValue&, const JsonPlace&) { return {}; }

// How the members of a budget file become those of `budget`.
std::vector<JsonField> FieldsOf(BudgetFile& budget) {
  return {{"$schema", Ignore},
          {"component", Into(budget.component, ReadComponent), R"("component": "NAME")"},
          {"owner", Into(budget.owner, ReadOwner)},
          {"tests", Into(budget.tests, ReadTests)},
          {"binaries", Into(budget.binaries, ReadBinaries)},
          {"code", Into(budget.code, ReadCode)},
          {"processes", Into(budget.processes, ReadProcesses)},
          {"free_by", Into(budget.free_by, ReadFreeBy)},
          {"confirm", Into(budget.confirm, ReadConfirm)},
          {"threads", Into(budget.thread_scope, ReadThreadScope)},
          {"limits", Into(budget.limits, ReadLimits)},
          {"overrides", Into(budget.overrides, ReadOverrides)},
          {"allowances", Into(budget.allowances, ReadAllowances)}};
}

}  // namespace

const WindowLimits& ScopedLimits::For(WindowKind kind) const {
  switch (kind) {
    case WindowKind::kTest:
      return test;
    case WindowKind::kSuite:
      return suite;
    case WindowKind::kProcess:
      return process;
    case WindowKind::kProgram:
      break;
  }
  return program;
}

Expected<BudgetFile> ParseBudgetFile(const std::filesystem::path& path, const std::string& text) {
  const Expected<LocatedValue> json = ParseLocatedJson(path, text);
  if (!json) return Unexpected(json.error());

  BudgetFile budget;
  budget.path = path;
  const Expected<void> read = ReadObject(*json, {path, ""}, FieldsOf(budget), kBudgetExample);
  if (!read) return Unexpected(read.error());
  return budget;
}

}  // namespace leakgate
