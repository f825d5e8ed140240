#include "runner/budget/read_exceptions.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runner/budget/expiry.h"
#include "runner/budget/read_limits.h"
#include "runner/budget/wording.h"

namespace leakgate {
namespace {

constexpr std::string_view kReasonExample = R"("the pool keeps one socket")";
constexpr std::string_view kIssueExample = R"("NET-123")";
constexpr std::string_view kDateExample = R"("2026-12-31")";

template <typename Choice>
using Words = std::vector<std::pair<std::string_view, Choice>>;

// Reads one of `words`, and returns what it stands for.
template <typename Choice>
Expected<Choice> ReadWord(const LocatedValue& value, const JsonPlace& place,
                          const Words<Choice>& words) {
  std::vector<std::string_view> known;
  for (const auto& [word, choice] : words) {
    if (value.kind == JsonKind::kString && value.text == word) return choice;
    known.push_back(word);
  }
  const std::string choices = QuotedList(known, "or");
  if (value.kind != JsonKind::kString) return WrongType(value, place, "a string", choices);
  return place.ErrorAt(value,
                       fmt::format("unknown word {}; write {}", Quoted(value.text), choices));
}

constexpr std::string_view kOverrideExample =
    R"({"tests": ["HttpTest.*"], "limits": {"test": {"outstanding": {"bytes": 64}}}, )"
    R"("reason": "the pool keeps one socket"})";
constexpr std::string_view kAllowanceExample =
    R"({"stack": ["net::Pool::Grow"], "blocks": 1, "reason": "the pool keeps one socket"})";
constexpr std::string_view kStackExample = R"("net::Pool::Grow")";
constexpr std::string_view kAddTests = R"("tests": ["HttpTest.*"])";
constexpr std::string_view kAddStack = R"("stack": ["net::Pool::Grow"])";
constexpr std::string_view kAddReason = R"("reason": "WHY")";

Expected<std::chrono::year_month_day> ReadExpires(const LocatedValue& value,
                                                  const JsonPlace& place) {
  const Expected<std::string> text = ReadText(value, place, kDateExample);
  if (!text) return Unexpected(text.error());
  if (const std::optional<std::chrono::year_month_day> date = ParseDate(*text)) return *date;
  return place.ErrorAt(value, fmt::format("{} is no date; write year, month and day, such as {}",
                                          Quoted(*text), kDateExample));
}

Expected<Override> ReadOverride(const LocatedValue& value, const JsonPlace& place) {
  Override result;
  result.line = value.line;
  const Expected<void> read =
      ReadObject(value, place,
                 {{"tests", Into(result.tests, ReadTexts, kTestsExample), kAddTests},
                  {"limits", Into(result.limits, ReadOverrideLimits)},
                  {"free_by", Into(result.free_by, ReadFreeBy)},
                  {"reason", Into(result.reason, ReadText, kReasonExample), kAddReason},
                  {"owner", Into(result.owner, ReadText, kOwnerExample)},
                  {"issue", Into(result.issue, ReadText, kIssueExample)},
                  {"expires", Into(result.expires, ReadExpires)}},
                 kOverrideExample);
  if (!read) return Unexpected(read.error());
  if (value.Find("limits") != nullptr || value.Find("free_by") != nullptr) return result;
  return place.ErrorAt(value,
                       "changes nothing; add \"limits\": {\"test\": {\"outstanding\": "
                       "{\"bytes\": 64}}} or \"free_by\": \"suite\"");
}

Expected<Allowance> ReadAllowance(const LocatedValue& value, const JsonPlace& place) {
  Allowance result;
  result.line = value.line;
  const Expected<void> read =
      ReadObject(value, place,
                 {{"stack", Into(result.stack, ReadTexts, kStackExample), kAddStack},
                  {"tests", Into(result.tests, ReadTexts, kTestsExample)},
                  {"bytes", Into(result.bytes, ReadBytes)},
                  {"blocks", Into(result.blocks, ReadBlocks)},
                  {"reason", Into(result.reason, ReadText, kReasonExample), kAddReason},
                  {"owner", Into(result.owner, ReadText, kOwnerExample)},
                  {"issue", Into(result.issue, ReadText, kIssueExample)},
                  {"expires", Into(result.expires, ReadExpires)}},
                 kAllowanceExample);
  if (!read) return Unexpected(read.error());
  return result;
}

}  // namespace

Expected<FreeBy> ReadFreeBy(const LocatedValue& value, const JsonPlace& place) {
  return ReadWord<FreeBy>(
      value, place,
      {{"test", FreeBy::kTest}, {"suite", FreeBy::kSuite}, {"program", FreeBy::kProgram}});
}

Expected<Confirm> ReadConfirm(const LocatedValue& value, const JsonPlace& place) {
  return ReadWord<Confirm>(
      value, place,
      {{"after", Confirm::kAfter}, {"inline", Confirm::kInline}, {"off", Confirm::kOff}});
}

Expected<ThreadScope> ReadThreadScope(const LocatedValue& value, const JsonPlace& place) {
  return ReadWord<ThreadScope>(value, place,
                               {{"process", ThreadScope::kProcess}, {"test", ThreadScope::kTest}});
}

Expected<std::vector<Override>> ReadOverrides(const LocatedValue& value, const JsonPlace& place) {
  return ReadList(value, place, ReadOverride, fmt::format("[{}]", kOverrideExample));
}

Expected<std::vector<Allowance>> ReadAllowances(const LocatedValue& value, const JsonPlace& place) {
  return ReadList(value, place, ReadAllowance, fmt::format("[{}]", kAllowanceExample));
}

}  // namespace leakgate
