#include "runner/budget/budget_file.h"

#include "runner/budget/json_fields.h"
#include "runner/budget/located_json.h"
#include "runner/budget/read_limits.h"

namespace leakgate {
namespace {

constexpr std::string_view kComponentExample = R"("net")";
constexpr std::string_view kOwnerExample = R"("team-net")";
constexpr std::string_view kTestsExample = R"("HttpTest.*")";
constexpr std::string_view kBinariesExample = R"("net_*")";
constexpr std::string_view kReasonExample = R"("the pool keeps one socket")";
constexpr std::string_view kBudgetExample =
    R"({"component": "net", "limits": {"test": {"outstanding": {"bytes": 0}}}})";
constexpr std::string_view kOverrideExample =
    R"({"tests": ["HttpTest.*"], "limits": {"test": {"outstanding": {"bytes": 64}}}, )"
    R"("reason": "the pool keeps one socket"})";
constexpr std::string_view kOverridesExample =
    R"([{"tests": ["HttpTest.*"], "limits": {"test": {"outstanding": {"bytes": 64}}}, )"
    R"("reason": "the pool keeps one socket"}])";

Expected<std::string> ReadComponent(const LocatedValue& value, const JsonPlace& place) {
  return ReadText(value, place, kComponentExample);
}

Expected<std::string> ReadOwner(const LocatedValue& value, const JsonPlace& place) {
  return ReadText(value, place, kOwnerExample);
}

Expected<std::string> ReadReason(const LocatedValue& value, const JsonPlace& place) {
  return ReadText(value, place, kReasonExample);
}

Expected<std::vector<std::string>> ReadTests(const LocatedValue& value, const JsonPlace& place) {
  return ReadTexts(value, place, kTestsExample);
}

Expected<std::vector<std::string>> ReadBinaries(const LocatedValue& value, const JsonPlace& place) {
  return ReadTexts(value, place, kBinariesExample);
}

Expected<void> Ignore(const LocatedValue&, const JsonPlace&) { return {}; }

Expected<Override> ReadOverride(const LocatedValue& value, const JsonPlace& place) {
  Override result;
  result.line = value.line;
  const Expected<void> read =
      ReadObject(value, place,
                 {{"tests", Into(result.tests, ReadTests), R"("tests": ["HttpTest.*"])"},
                  {"limits", Into(result.limits, ReadOverrideLimits),
                   R"("limits": {"test": {"outstanding": {"bytes": 64}}})"},
                  {"reason", Into(result.reason, ReadReason), R"("reason": "WHY")"}},
                 kOverrideExample);
  if (!read) return Unexpected(read.error());
  return result;
}

Expected<std::vector<Override>> ReadOverrides(const LocatedValue& value, const JsonPlace& place) {
  if (value.kind != JsonKind::kArray) {
    return WrongType(value, place, "an array of objects", kOverridesExample);
  }
  std::vector<Override> overrides;
  for (const LocatedValue& element : value.elements) {
    Expected<Override> read = ReadOverride(element, place.Element(overrides.size()));
    if (!read) return Unexpected(std::move(read).error());
    overrides.push_back(*std::move(read));
  }
  return overrides;
}

}  // namespace

const WindowLimits& ScopedLimits::For(WindowKind kind) const {
  switch (kind) {
    case WindowKind::kTest:
      return test;
    case WindowKind::kSuite:
      return suite;
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
  const Expected<void> read =
      ReadObject(*json, {path, ""},
                 {{"$schema", Ignore},
                  {"component", Into(budget.component, ReadComponent), R"("component": "NAME")"},
                  {"owner", Into(budget.owner, ReadOwner)},
                  {"tests", Into(budget.tests, ReadTests)},
                  {"binaries", Into(budget.binaries, ReadBinaries)},
                  {"limits", Into(budget.limits, ReadLimits)},
                  {"overrides", Into(budget.overrides, ReadOverrides)}},
                 kBudgetExample);
  if (!read) return Unexpected(read.error());
  return budget;
}

}  // namespace leakgate
