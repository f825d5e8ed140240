#include "runner/budget/read_terms.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "runner/budget/date.h"
#include "runner/budget/wording.h"

namespace leakgate {
namespace {

constexpr std::string_view kOwnerExample = R"("team-net")";
constexpr std::string_view kTestsExample = R"("HttpTest.*")";
constexpr std::string_view kReasonExample = R"("the pool keeps one socket")";
constexpr std::string_view kIssueExample = R"("NET-123")";
constexpr std::string_view kDateExample = R"("2026-12-31")";

template <typename Choice>
using Words = std::vector<std::pair<std::string_view, Choice>>;

// One word of a few.
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

}  // namespace

Expected<std::vector<std::string>> ReadTests(const LocatedValue& value, const JsonPlace& place) {
  return ReadTexts(value, place, kTestsExample);
}

Expected<std::string> ReadOwner(const LocatedValue& value, const JsonPlace& place) {
  return ReadText(value, place, kOwnerExample);
}

Expected<std::string> ReadReason(const LocatedValue& value, const JsonPlace& place) {
  return ReadText(value, place, kReasonExample);
}

Expected<std::string> ReadIssue(const LocatedValue& value, const JsonPlace& place) {
  return ReadText(value, place, kIssueExample);
}

Expected<std::chrono::year_month_day> ReadExpires(const LocatedValue& value,
                                                  const JsonPlace& place) {
  const Expected<std::string> text = ReadText(value, place, kDateExample);
  if (!text) return Unexpected(text.error());
  if (const std::optional<std::chrono::year_month_day> date = ParseDate(*text)) return *date;
  return place.ErrorAt(value, fmt::format("{} is no date; write year, month and day, such as {}",
                                          Quoted(*text), kDateExample));
}

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

}  // namespace leakgate
