// The rules that an issue can break, as code scanning lists them. Pure.
#pragma once

#include <string_view>

namespace leakgate {

enum class Rule {
  kLost,
  kSteady,
  kOutstanding,  // over a limit on what may be outstanding or retained
  kOverLimit,    // over another limit
  kUnconfirmed,
  kMismatchedFree,
  kDoubleFree,
  kBudgetEntry,  // an override or allowance that expired, or that nothing used
};
inline constexpr int kRuleCount = 8;

[[nodiscard]] std::string_view RuleId(Rule rule);     // "leakgate.lost"
[[nodiscard]] std::string_view RuleTitle(Rule rule);  // "Lost memory"
[[nodiscard]] std::string_view RuleHelp(Rule rule);   // one or two sentences

}  // namespace leakgate
