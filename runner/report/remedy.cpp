#include "runner/report/remedy.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "runner/report/excess.h"
#include "runner/report/json_words.h"

namespace leakgate {
namespace {

std::string Quoted(const std::string& text) {
  constexpr bool kAsciiOnly = false;
  return nlohmann::json(text).dump(-1, ' ', kAsciiOnly, nlohmann::json::error_handler_t::replace);
}

bool IsOver(const WindowResult& window, std::string_view quantity) {
  for (const Violation& violation : window.violations) {
    if (IsOf(violation, quantity)) return true;
  }
  return false;
}

// A limit is never negative, so a negative amount needs none.
std::string AmountJson(Amount amount) {
  std::vector<std::string> members;
  if (amount.bytes >= 0) members.push_back(fmt::format(R"("bytes": {})", amount.bytes));
  if (amount.blocks >= 0) members.push_back(fmt::format(R"("blocks": {})", amount.blocks));
  return fmt::format("{{ {} }}", fmt::join(members, ", "));
}

std::string LimitsJson(const WindowResult& window) {
  std::vector<std::string> members;
  if (IsOver(window, "outstanding")) {
    members.push_back(R"("outstanding": )" + AmountJson(window.outstanding));
  }
  if (IsOver(window, "growth")) members.push_back(R"("growth": )" + AmountJson(window.growth));
  return fmt::format(R"({{ "{}": {{ {} }} }})", Word(window.kind), fmt::join(members, ", "));
}

std::string OverrideJson(const WindowResult& window) {
  const std::string pattern = window.kind == WindowKind::kSuite ? window.name + ".*" : window.name;
  return fmt::format(R"({{ "tests": [{}], "limits": {}, "reason": "..." }})", Quoted(pattern),
                     LimitsJson(window));
}

std::string_view Section(const WindowResult& window) {
  return window.kind == WindowKind::kProgram ? "limits" : "overrides";
}

// The budget file that covers the window, as far as one of its limits tells.
std::string BudgetFileOf(const WindowResult& window) {
  const AppliedBudget& budget = *window.budget;
  for (const Violation& violation : window.violations) {
    if (!violation.limit.source.file.empty()) return violation.limit.source.file;
  }
  for (const AppliedAmountLimits& limits : std::array{budget.outstanding, budget.growth}) {
    if (limits.bytes && !limits.bytes->source.file.empty()) return limits.bytes->source.file;
    if (limits.blocks && !limits.blocks->source.file.empty()) return limits.blocks->source.file;
  }
  return "";
}

bool IsCovered(const WindowResult& window) {
  return !window.budget->component.empty() || !BudgetFileOf(window).empty();
}

std::string Place(const WindowResult& window) {
  if (!IsCovered(window)) return "a new NAME.leakgate.json";
  const std::string file = BudgetFileOf(window);
  return fmt::format("\"{}\" of {}", Section(window),
                     file.empty() ? window.budget->component + "'s budget file" : file);
}

}  // namespace

std::string RemedyJson(const WindowResult& window) {
  const bool is_program = window.kind == WindowKind::kProgram;
  const std::string entry = is_program ? LimitsJson(window) : OverrideJson(window);
  if (IsCovered(window)) return entry;
  return fmt::format(R"({{ "component": "...", "{}": {} }})", Section(window),
                     is_program ? entry : "[" + entry + "]");
}

std::string RemedyText(const WindowResult& window) {
  return fmt::format("fix it, or allow it in {}: {}", Place(window), RemedyJson(window));
}

}  // namespace leakgate
