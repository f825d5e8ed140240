#include "runner/budget/read_exceptions.h"

#include <fmt/format.h>

#include <string>

#include "runner/budget/read_limits.h"
#include "runner/budget/read_numbers.h"
#include "runner/budget/read_terms.h"

namespace leakgate {
namespace {

constexpr std::string_view kOverrideExample =
    R"({"tests": ["HttpTest.*"], "limits": {"test": {"outstanding": {"bytes": 64}}}, )"
    R"("reason": "the pool keeps one socket"})";
constexpr std::string_view kAllowanceExample =
    R"({"stack": ["net::Pool::Grow"], "blocks": 1, "reason": "the pool keeps one socket"})";
constexpr std::string_view kStackExample = R"("net::Pool::Grow")";
constexpr std::string_view kAddReason = R"("reason": "WHY")";

Expected<std::vector<std::string>> ReadStack(const LocatedValue& value, const JsonPlace& place) {
  return ReadTexts(value, place, kStackExample);
}

Expected<Override> ReadOverride(const LocatedValue& value, const JsonPlace& place) {
  Override result;
  result.line = value.line;
  const Expected<void> read =
      ReadObject(value, place,
                 {{"tests", Into(result.tests, ReadTests), R"("tests": ["HttpTest.*"])"},
                  {"limits", Into(result.limits, ReadOverrideLimits)},
                  {"free_by", Into(result.free_by, ReadFreeBy)},
                  {"reason", Into(result.reason, ReadReason), kAddReason},
                  {"owner", Into(result.owner, ReadOwner)},
                  {"issue", Into(result.issue, ReadIssue)},
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
                 {{"stack", Into(result.stack, ReadStack), R"("stack": ["net::Pool::Grow"])"},
                  {"tests", Into(result.tests, ReadTests)},
                  {"bytes", Into(result.bytes, ReadBytes)},
                  {"blocks", Into(result.blocks, ReadBlocks)},
                  {"reason", Into(result.reason, ReadReason), kAddReason},
                  {"owner", Into(result.owner, ReadOwner)},
                  {"issue", Into(result.issue, ReadIssue)},
                  {"expires", Into(result.expires, ReadExpires)}},
                 kAllowanceExample);
  if (!read) return Unexpected(read.error());
  return result;
}

}  // namespace

Expected<std::vector<Override>> ReadOverrides(const LocatedValue& value, const JsonPlace& place) {
  return ReadList(value, place, ReadOverride, fmt::format("[{}]", kOverrideExample));
}

Expected<std::vector<Allowance>> ReadAllowances(const LocatedValue& value, const JsonPlace& place) {
  return ReadList(value, place, ReadAllowance, fmt::format("[{}]", kAllowanceExample));
}

}  // namespace leakgate
