#include "runner/report/excess.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/report/quantity_text.h"

namespace leakgate {
namespace {

using Violations = std::vector<const Violation*>;

void AddOnce(std::vector<std::string>& texts, std::string text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
}

std::string SourceText(const LimitSource& source) {
  return source.file.empty() ? "default budget" : fmt::format("{}:{}", source.file, source.line);
}

bool IsInBytes(const Violation& violation) { return violation.metric.ends_with("_bytes"); }

// Rounded, 10.0 KiB may be more than 10.0 KiB: then both are told exactly.
bool LooksEqual(const Violation& violation) {
  return IsInBytes(violation) &&
         FormatBytes(violation.actual) == FormatBytes(violation.limit.value);
}

std::string LimitText(const Violation& violation) {
  const std::int64_t limit = violation.limit.value;
  if (!IsInBytes(violation)) return FormatCount(limit, "block");
  return LooksEqual(violation) ? fmt::format("{} B", limit) : FormatBytes(limit);
}

// "budget 64 B and 1 block"; that no bytes means no blocks goes without saying.
std::string BudgetText(const Violations& violations) {
  const auto is_none = [](const Violation* violation) { return violation->limit.value == 0; };
  if (std::all_of(violations.begin(), violations.end(), is_none)) {
    return "budget " + LimitText(*violations.front());
  }
  std::vector<std::string> limits;
  for (const Violation* violation : violations) limits.push_back(LimitText(*violation));
  return fmt::format("budget {}", fmt::join(limits, " and "));
}

bool AnyLooksEqual(const Violations& violations) {
  return std::any_of(violations.begin(), violations.end(),
                     [](const Violation* violation) { return LooksEqual(*violation); });
}

std::string OutstandingText(Amount amount, const Violations& violations) {
  if (!AnyLooksEqual(violations)) return FormatAmount(amount) + " outstanding";
  return fmt::format("{} B in {} outstanding", amount.bytes, FormatCount(amount.blocks, "block"));
}

std::string GrowthText(Amount growth, const Violations& violations) {
  if (!AnyLooksEqual(violations)) return "growth " + FormatChange(growth);
  return fmt::format("growth {:+} B ({:+} {})", growth.bytes, growth.blocks,
                     growth.blocks == 1 || growth.blocks == -1 ? "block" : "blocks");
}

Violations Select(const WindowResult& window, std::string_view quantity) {
  Violations selected;
  for (const Violation& violation : window.violations) {
    if (IsOf(violation, quantity)) selected.push_back(&violation);
  }
  return selected;
}

Excess ToExcess(std::string amount, const Violations& violations) {
  Excess excess;
  excess.amount = std::move(amount);
  excess.budget = BudgetText(violations);
  for (const Violation* violation : violations) {
    const LimitSource& source = violation->limit.source;
    AddOnce(excess.sources, SourceText(source));
    if (!source.reason.empty()) AddOnce(excess.reasons, source.reason);
  }
  return excess;
}

}  // namespace

bool IsOf(const Violation& violation, std::string_view quantity) {
  return violation.metric.starts_with(quantity);
}

std::vector<Excess> Excesses(const WindowResult& window) {
  std::vector<Excess> excesses;
  if (const Violations over = Select(window, "outstanding"); !over.empty()) {
    excesses.push_back(ToExcess(OutstandingText(window.outstanding, over), over));
  }
  if (const Violations over = Select(window, "growth"); !over.empty()) {
    excesses.push_back(ToExcess(GrowthText(window.growth, over), over));
  }
  return excesses;
}

}  // namespace leakgate
