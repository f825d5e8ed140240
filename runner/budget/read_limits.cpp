#include "runner/budget/read_limits.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runner/budget/apply_limits.h"
#include "runner/budget/wording.h"
#include "runner/region/region_words.h"

namespace leakgate {
namespace {

Limit LimitAt(const LocatedValue& value, std::int64_t number) {
  return {.value = number, .line = value.line, .column = value.column};
}

// REQUIRES: `value` is a number.
Expected<Limit> ReadInteger(const LocatedValue& value, const JsonPlace& place) {
  const std::string& digits = value.text;
  if (digits.starts_with('-')) {
    return place.ErrorAt(value, fmt::format("{} is negative; write 0 or more", digits));
  }
  if (digits.find_first_not_of("0123456789") != std::string::npos) {
    return place.ErrorAt(value,
                         fmt::format("{} is not a whole number; write it in digits only", digits));
  }
  std::int64_t number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (parsed.ec != std::errc{}) {
    return place.ErrorAt(value, fmt::format("{} is too large; write at most {}", digits,
                                            std::numeric_limits<std::int64_t>::max()));
  }
  return LimitAt(value, number);
}

Expected<Limit> ReadCount(const LocatedValue& value, const JsonPlace& place,
                          std::string_view counted) {
  if (value.kind == JsonKind::kNumber) return ReadInteger(value, place);
  return WrongType(value, place, fmt::format("a number of {}", counted), "2");
}

constexpr std::string_view kAmountExample = R"({"bytes": "64 KiB", "blocks": 2})";
constexpr std::string_view kBytesExample = R"({"bytes": "64 KiB"})";
constexpr std::string_view kWindowExample = R"({"outstanding": {"bytes": "64 KiB"}})";
constexpr std::string_view kLimitsExample = R"({"test": {"outstanding": {"bytes": "64 KiB"}}})";

Expected<AmountLimits> ReadAmount(const LocatedValue& value, const JsonPlace& place) {
  AmountLimits amount;
  LEAKGATE_TRY(ReadNonEmptyObject(
      value, place,
      {{"bytes", Into(amount.bytes, ReadBytes)}, {"blocks", Into(amount.blocks, ReadBlocks)}},
      kAmountExample));
  return amount;
}

// Reads a quantity that has bytes only. It is an object, like the other quantities.
Expected<Limit> ReadBytesOnly(const LocatedValue& value, const JsonPlace& place) {
  Limit bytes;
  LEAKGATE_TRY(
      ReadNonEmptyObject(value, place, {{"bytes", Into(bytes, ReadBytes)}}, kBytesExample));
  return bytes;
}

JsonField FieldOf(const AmountQuantity& quantity, WindowLimits& window) {
  return {quantity.key(), Into(window.*quantity.limits, ReadAmount)};
}
JsonField FieldOf(const NumberQuantity& quantity, WindowLimits& window) {
  std::optional<Limit>& limit = window.*quantity.limit;
  if (quantity.in_bytes) return {quantity.key(), Into(limit, ReadBytesOnly)};
  return {quantity.key(), Into(limit, ReadCount, quantity.counted)};
}

Expected<WindowLimits> ReadWindow(const LocatedValue& value, const JsonPlace& place) {
  WindowLimits window;
  LEAKGATE_TRY(ReadNonEmptyObject(
      value, place,
      {FieldOf(quantity::kOutstanding, window), FieldOf(quantity::kLost, window),
       FieldOf(quantity::kRetained, window), FieldOf(quantity::kGrowth, window),
       FieldOf(quantity::kAllocated, window), FieldOf(quantity::kTemporary, window),
       FieldOf(quantity::kPeak, window), FieldOf(quantity::kMapped, window),
       FieldOf(quantity::kFileDescriptors, window), FieldOf(quantity::kThreads, window)},
      kWindowExample));
  return window;
}

// Fails on limits of descriptors and threads, which are counted at the begin and end of tests only.
Expected<WindowLimits> ReadOuterWindow(const LocatedValue& value, const JsonPlace& place) {
  for (const LocatedMember& member : value.members) {
    const bool is_of_tests =
        member.key == quantity::kFileDescriptors.key() || member.key == quantity::kThreads.key();
    if (!is_of_tests) continue;
    const Unexpected misplaced =
        place.Member(member.key)
            .ErrorAt(member, "is measured for tests only; move it to the limits of \"test\"");
    LEAKGATE_TRY(place.Keep(misplaced.value()));
  }
  return ReadWindow(value, place);
}

constexpr std::string_view kReasonExample = R"("the pool keeps one socket")";
constexpr std::string_view kIssueExample = R"("NET-123")";
constexpr std::string_view kDateExample = R"("2026-12-31")";

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
  LEAKGATE_TRY_ASSIGN(const std::string text, ReadText(value, place, kDateExample));
  if (const std::optional<std::chrono::year_month_day> date = ParseDate(text)) return *date;
  return place.ErrorAt(value, fmt::format("{} is no date; write year, month and day, such as {}",
                                          Quoted(text), kDateExample));
}

Expected<Override> ReadOverride(const LocatedValue& value, const JsonPlace& place) {
  Override result;
  result.line = value.line;
  LEAKGATE_TRY(ReadObject(value, place,
                          {{"tests", Into(result.tests, ReadTexts, kTestsExample), kAddTests},
                           {"limits", Into(result.limits, ReadOverrideLimits)},
                           {"free_by", Into(result.free_by, ReadWord<FreeBy>)},
                           {"reason", Into(result.reason, ReadText, kReasonExample), kAddReason},
                           {"owner", Into(result.owner, ReadText, kOwnerExample)},
                           {"issue", Into(result.issue, ReadText, kIssueExample)},
                           {"expires", Into(result.expires, ReadExpires)}},
                          kOverrideExample));
  if (value.Find("limits") != nullptr || value.Find("free_by") != nullptr) return result;
  return place.ErrorAt(value,
                       "changes nothing; add \"limits\": {\"test\": {\"outstanding\": "
                       "{\"bytes\": 64}}} or \"free_by\": \"suite\"");
}

Expected<Allowance> ReadAllowance(const LocatedValue& value, const JsonPlace& place) {
  Allowance result;
  result.line = value.line;
  LEAKGATE_TRY(ReadObject(value, place,
                          {{"stack", Into(result.stack, ReadTexts, kStackExample), kAddStack},
                           {"tests", Into(result.tests, ReadTexts, kTestsExample)},
                           {"bytes", Into(result.bytes, ReadBytes)},
                           {"blocks", Into(result.blocks, ReadBlocks)},
                           {"reason", Into(result.reason, ReadText, kReasonExample), kAddReason},
                           {"owner", Into(result.owner, ReadText, kOwnerExample)},
                           {"issue", Into(result.issue, ReadText, kIssueExample)},
                           {"expires", Into(result.expires, ReadExpires)}},
                          kAllowanceExample));
  return result;
}

}  // namespace

Expected<Limit> ReadBytes(const LocatedValue& value, const JsonPlace& place) {
  if (value.kind == JsonKind::kNumber) return ReadInteger(value, place);
  if (value.kind != JsonKind::kString) {
    return WrongType(value, place, "a size", R"(4096 or "64 KiB")");
  }
  const tl::expected<std::int64_t, std::string> bytes = ParseSize(value.text);
  if (!bytes) return place.ErrorAt(value, bytes.error());
  return LimitAt(value, *bytes);
}

Expected<Limit> ReadBlocks(const LocatedValue& value, const JsonPlace& place) {
  return ReadCount(value, place, "blocks");
}

Expected<ScopedLimits> ReadLimits(const LocatedValue& value, const JsonPlace& place) {
  ScopedLimits limits;
  LEAKGATE_TRY(
      ReadNonEmptyObject(value, place,
                         {{Word(WindowKind::kTest), Into(limits.test, ReadWindow)},
                          {Word(WindowKind::kSuite), Into(limits.suite, ReadOuterWindow)},
                          {Word(WindowKind::kProgram), Into(limits.program, ReadOuterWindow)},
                          {Word(WindowKind::kProcess), Into(limits.process, ReadOuterWindow)}},
                         kLimitsExample));
  return limits;
}

Expected<ScopedLimits> ReadOverrideLimits(const LocatedValue& value, const JsonPlace& place) {
  for (const LocatedMember& member : value.members) {
    if (member.key != Word(WindowKind::kProgram)) continue;
    const Unexpected misplaced =
        place.Member(member.key)
            .ErrorAt(member,
                     "an override limits tests, suites and the processes that tests start; move it "
                     "to the \"limits\" of the file");
    LEAKGATE_TRY(place.Keep(misplaced.value()));
    LocatedValue others = value;
    std::erase_if(others.members, [&](const LocatedMember& it) { return it.key == member.key; });
    if (others.members.empty()) return ScopedLimits{};
    return ReadOverrideLimits(others, place);
  }
  ScopedLimits limits;
  LEAKGATE_TRY(
      ReadNonEmptyObject(value, place,
                         {{Word(WindowKind::kTest), Into(limits.test, ReadWindow)},
                          {Word(WindowKind::kSuite), Into(limits.suite, ReadOuterWindow)},
                          {Word(WindowKind::kProcess), Into(limits.process, ReadOuterWindow)}},
                         kLimitsExample));
  return limits;
}

Expected<std::vector<Override>> ReadOverrides(const LocatedValue& value, const JsonPlace& place) {
  return ReadList(value, place, ReadOverride, fmt::format("[{}]", kOverrideExample));
}

Expected<std::vector<Allowance>> ReadAllowances(const LocatedValue& value, const JsonPlace& place) {
  return ReadList(value, place, ReadAllowance, fmt::format("[{}]", kAllowanceExample));
}

}  // namespace leakgate
