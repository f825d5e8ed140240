#include "runner/budget/read_limits.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string>

#include "runner/budget/size.h"

namespace leakgate {
namespace {

constexpr std::string_view kAmountExample = R"({"bytes": "64 KiB", "blocks": 2})";
constexpr std::string_view kWindowExample = R"({"outstanding": {"bytes": "64 KiB"}})";
constexpr std::string_view kLimitsExample = R"({"test": {"outstanding": {"bytes": "64 KiB"}}})";

// REQUIRES: value.kind is kNumber.
Expected<Limit> ReadInteger(const LocatedValue& value, const JsonPlace& place) {
  const std::string& digits = value.text;
  if (digits.starts_with('-')) {
    return place.ErrorAt(value.line, fmt::format("{} is negative; write 0 or more", digits));
  }
  if (digits.find_first_not_of("0123456789") != std::string::npos) {
    return place.ErrorAt(value.line,
                         fmt::format("{} is not a whole number; write it in digits only", digits));
  }
  Limit limit{.value = 0, .line = value.line};
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), limit.value);
  if (parsed.ec != std::errc{}) {
    return place.ErrorAt(value.line, fmt::format("{} is too large; write at most {}", digits,
                                                 std::numeric_limits<std::int64_t>::max()));
  }
  return limit;
}

Expected<Limit> ReadBlocks(const LocatedValue& value, const JsonPlace& place) {
  if (value.kind != JsonKind::kNumber) return WrongType(value, place, "a number of blocks", "2");
  return ReadInteger(value, place);
}

Expected<Limit> ReadBytes(const LocatedValue& value, const JsonPlace& place) {
  if (value.kind == JsonKind::kNumber) return ReadInteger(value, place);
  if (value.kind != JsonKind::kString) {
    return WrongType(value, place, "a size", R"(4096 or "64 KiB")");
  }
  const tl::expected<std::int64_t, std::string> bytes = ParseSize(value.text);
  if (!bytes) return place.ErrorAt(value.line, bytes.error());
  return Limit{.value = *bytes, .line = value.line};
}

Expected<AmountLimits> ReadAmount(const LocatedValue& value, const JsonPlace& place) {
  AmountLimits amount;
  const Expected<void> read = ReadNonEmptyObject(
      value, place,
      {{"bytes", Into(amount.bytes, ReadBytes)}, {"blocks", Into(amount.blocks, ReadBlocks)}},
      kAmountExample);
  if (!read) return Unexpected(read.error());
  return amount;
}

Expected<WindowLimits> ReadWindow(const LocatedValue& value, const JsonPlace& place) {
  WindowLimits window;
  const Expected<void> read =
      ReadNonEmptyObject(value, place,
                         {{"outstanding", Into(window.outstanding, ReadAmount)},
                          {"growth", Into(window.growth, ReadAmount)}},
                         kWindowExample);
  if (!read) return Unexpected(read.error());
  return window;
}

}  // namespace

Expected<ScopedLimits> ReadLimits(const LocatedValue& value, const JsonPlace& place) {
  ScopedLimits limits;
  const Expected<void> read = ReadNonEmptyObject(value, place,
                                                 {{"test", Into(limits.test, ReadWindow)},
                                                  {"suite", Into(limits.suite, ReadWindow)},
                                                  {"program", Into(limits.program, ReadWindow)}},
                                                 kLimitsExample);
  if (!read) return Unexpected(read.error());
  return limits;
}

Expected<ScopedLimits> ReadOverrideLimits(const LocatedValue& value, const JsonPlace& place) {
  for (const LocatedMember& member : value.members) {
    if (member.key != "program") continue;
    return place.Member(member.key)
        .ErrorAt(member.line,
                 "an override limits tests and suites only; move it to the \"limits\" of the file");
  }
  ScopedLimits limits;
  const Expected<void> read = ReadNonEmptyObject(
      value, place,
      {{"test", Into(limits.test, ReadWindow)}, {"suite", Into(limits.suite, ReadWindow)}},
      kLimitsExample);
  if (!read) return Unexpected(read.error());
  return limits;
}

}  // namespace leakgate
