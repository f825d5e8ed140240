#include "runner/report/excess.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "runner/region/amount.h"

namespace leakgate {
namespace {

using Violations = std::vector<const Violation*>;

void AddOnce(std::vector<std::string>& texts, std::string text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
}

// Returns whether a budget file sets the limit. Otherwise nothing lost or growing is permitted.
bool IsSetByFile(const Violation& violation) { return !violation.limit.source.file.empty(); }

bool IsInBytes(const Violation& violation) {
  return UnitOf(violation.metric) == MetricUnit::kBytes;
}

// Two numbers may be the same when they are rounded. Then both are shown exactly.
bool LooksEqual(const Violation& violation) {
  return IsInBytes(violation) &&
         FormatBytes(violation.actual) == FormatBytes(violation.limit.value);
}

std::string LimitText(const Violation& violation) {
  const std::int64_t limit = violation.limit.value;
  if (UnitOf(violation.metric) == MetricUnit::kBlocks) {
    return FormatCount(limit, IsOfMappings(violation) ? "mapping" : "block");
  }
  if (!IsInBytes(violation)) return std::to_string(limit);
  return LooksEqual(violation) ? fmt::format("{} B", limit) : FormatBytes(limit);
}

// Sets the amounts from the violations of the same quantity and component: one has the bytes,
// another the blocks.
void SetViolatedAmounts(std::vector<Violation>& violations) {
  struct MeasuredAmount {
    std::optional<std::int64_t> bytes;
    std::optional<std::int64_t> blocks;
  };
  std::map<std::pair<std::string_view, Quantity>, MeasuredAmount> measured;
  for (const Violation& violation : violations) {
    MeasuredAmount& amount = measured[{violation.component, QuantityOf(violation)}];
    if (IsInBytes(violation)) amount.bytes = violation.actual;
    if (UnitOf(violation.metric) == MetricUnit::kBlocks) amount.blocks = violation.actual;
  }
  for (Violation& violation : violations) {
    const MeasuredAmount& amount = measured[{violation.component, QuantityOf(violation)}];
    violation.amount.bytes = amount.bytes.value_or(violation.amount.bytes);
    violation.amount.blocks = amount.blocks.value_or(violation.amount.blocks);
  }
}

// Returns the whole amount of the quantity of `violation`. If the window does not have it, it is
// the sum of the findings that are charged to the component.
Amount AmountOver(const Violation& violation, const WindowResult& window) {
  if (violation.component == window.budget->component) {
    if (IsOf(violation, Quantity::kOutstanding)) return window.outstanding;
    if (IsOf(violation, Quantity::kLost)) return window.lost;
    if (IsOf(violation, Quantity::kRetained)) return window.retained;
    if (IsOf(violation, Quantity::kGrowth)) return window.growth;
    if (IsOf(violation, Quantity::kAllocated)) return window.allocated;
    if (IsOf(violation, Quantity::kTemporary)) return window.temporary.value_or(Amount{});
    if (IsOf(violation, Quantity::kMapped)) return window.mapped;
  }
  Amount amount;
  for (const Finding& finding : IsOfMappings(violation) ? window.mappings : window.findings) {
    const std::string& owner =
        finding.component.empty() ? window.budget->component : finding.component;
    const bool is_of = IsOfGrowth(violation)                  ? IsGrowthIn(finding, violation)
                       : IsOf(violation, Quantity::kLost)     ? IsLost(finding.reach)
                       : IsOf(violation, Quantity::kRetained) ? !IsLost(finding.reach)
                                                              : IsUsers(finding);
    if (is_of && owner == violation.component) amount += finding.amount;
  }
  return amount;
}

// Returns "budget 64 B and 1 block", or "budget 0 B": no bytes means no blocks. The text is empty
// where no file sets a limit.
std::string BudgetText(Violations violations) {
  std::erase_if(violations, [](const Violation* violation) { return !IsSetByFile(*violation); });
  if (violations.empty()) return "";
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

std::string AmountText(Amount amount, const Violations& violations, std::string_view noun) {
  return fmt::format(
      "{} in {}",
      AnyLooksEqual(violations) ? fmt::format("{} B", amount.bytes) : FormatBytes(amount.bytes),
      FormatCount(amount.blocks, noun));
}

std::string GrowthText(Amount growth, const Violations& violations) {
  if (!AnyLooksEqual(violations)) return "growth " + FormatChange(growth);
  return fmt::format("growth {:+} B ({:+} {})", growth.bytes, growth.blocks,
                     growth.blocks == 1 || growth.blocks == -1 ? "block" : "blocks");
}

std::string BytesText(const Violations& violations) {
  const std::int64_t bytes = violations.front()->actual;
  return AnyLooksEqual(violations) ? fmt::format("{} B", bytes) : FormatBytes(bytes);
}

// Returns "128 B in 2 blocks lost", "2 file descriptors left open".
std::string WhatIsOver(Quantity quantity, const Violations& violations) {
  const Violation& first = *violations.front();
  if (quantity == Quantity::kGrowth) return GrowthText(first.amount, violations);
  if (quantity == Quantity::kPeak) return BytesText(violations) + " live at the peak";
  if (quantity == Quantity::kMapped) {
    // Reports of older versions do not have the number of mappings.
    const std::string mapped = first.amount.blocks == 0
                                   ? BytesText(violations)
                                   : AmountText(first.amount, violations, "mapping");
    return mapped + " left mapped";
  }
  if (quantity == Quantity::kFileDescriptors) {
    return FormatCount(first.actual, "file descriptor") + " left open";
  }
  if (quantity == Quantity::kThreads) return FormatCount(first.actual, "thread") + " left running";
  if (quantity == Quantity::kSteadyFileDescriptors) {
    return FormatCount(first.actual, "file descriptor") + " left open, growing each time";
  }
  if (quantity == Quantity::kSteadyThreads) {
    return FormatCount(first.actual, "thread") + " left running, growing each time";
  }
  if (quantity == Quantity::kSteadyMapped) {
    return AmountText(first.amount, violations, "mapping") + " retained, growing each time";
  }
  const std::string amount = AmountText(first.amount, violations, "block");
  if (quantity == Quantity::kTemporary) return amount + " allocated for a moment only";
  if (quantity == Quantity::kSteady) return amount + " retained, growing each time";
  return fmt::format("{} {}", amount, Word(quantity));
}

Excess ToExcess(Quantity quantity, const Violations& violations) {
  Excess excess;
  excess.amount = WhatIsOver(quantity, violations);
  excess.budget = BudgetText(violations);
  excess.component = violations.front()->component;
  for (const Violation* violation : violations) {
    const LimitSource& source = violation->limit.source;
    if (!IsSetByFile(*violation)) continue;
    AddOnce(excess.sources, fmt::format("{}:{}", source.file, source.line));
    if (!source.reason.empty()) AddOnce(excess.reasons, source.reason);
  }
  return excess;
}

}  // namespace

bool IsOfGrowth(const Violation& violation) {
  switch (QuantityOf(violation)) {
    case Quantity::kSteady:
    case Quantity::kSteadyMapped:
    case Quantity::kSteadyThreads:
    case Quantity::kSteadyFileDescriptors:
      return true;
    default:
      return false;
  }
}

bool IsOfMappings(const Violation& violation) {
  return IsOf(violation, Quantity::kMapped) || IsOf(violation, Quantity::kSteadyMapped) ||
         IsOf(violation, Quantity::kSteadyThreads);
}

bool IsGrowthIn(const Finding& finding, const Violation& violation) {
  if (finding.disposition != Disposition::kSteady) return false;
  if (finding.kind == AllocationKind::kThreadStack)
    return IsOf(violation, Quantity::kSteadyThreads);
  return IsOf(violation, IsMapped(finding) ? Quantity::kSteadyMapped : Quantity::kSteady);
}

bool Explains(const Finding& finding, const Violation& violation, const WindowResult& window) {
  const std::string& owner =
      finding.component.empty() ? window.budget->component : finding.component;
  if (owner != violation.component || !IsUsers(finding)) return false;
  if (IsOfGrowth(violation)) return IsGrowthIn(finding, violation);
  if (!CountsLiterally(finding)) return false;
  if (IsMapped(finding)) return IsOf(violation, Quantity::kMapped);
  if (IsOf(violation, Quantity::kLost)) return IsLost(finding.reach);
  if (IsOf(violation, Quantity::kRetained)) return !IsLost(finding.reach);
  return IsOf(violation, Quantity::kOutstanding);
}

std::vector<Quantity> ExceededActivities(const WindowResult& window) {
  std::vector<Quantity> quantities;
  for (const Violation& violation : window.violations) {
    const Quantity quantity = QuantityOf(violation);
    const bool is_known =
        std::find(quantities.begin(), quantities.end(), quantity) != quantities.end();
    if (!is_known && IsOfActivity(violation)) quantities.push_back(quantity);
  }
  return quantities;
}

std::vector<TopAllocators> UnknownTopAllocators(const WindowResult& window,
                                                const std::string& problem) {
  std::vector<TopAllocators> unknown;
  for (const Quantity quantity : ExceededActivities(window)) {
    unknown.push_back({.quantity = quantity, .problem = problem});
  }
  return unknown;
}

const TopAllocators* FindTopAllocators(const Violation& violation, const WindowResult& window) {
  const auto top =
      std::find_if(window.made_by.begin(), window.made_by.end(),
                   [&](const TopAllocators& it) { return IsOf(violation, it.quantity); });
  return top == window.made_by.end() ? nullptr : &*top;
}

const TopAllocators* FindMainAllocator(const WindowResult& window, const Violation& violation) {
  const TopAllocators* const top = FindTopAllocators(violation, window);
  if (top == nullptr || top->sites.empty()) return nullptr;
  const Amount own = top->amount - top->framework;
  const Amount most = top->sites.front().site.amount;
  const bool is_by_bytes =
      std::any_of(window.violations.begin(), window.violations.end(), [&](const Violation& it) {
        return QuantityOf(it) == QuantityOf(violation) && UnitOf(it.metric) == MetricUnit::kBytes;
      });
  const bool is_most =
      is_by_bytes ? most.bytes >= own.bytes - most.bytes : most.blocks >= own.blocks - most.blocks;
  return is_most ? top : nullptr;
}

void FillAmounts(WindowResult& window) {
  for (Violation& violation : window.violations) violation.amount = AmountOver(violation, window);
  SetViolatedAmounts(window.violations);
}

// The violations of one quantity and component are neighbours.
std::vector<Excess> Excesses(const WindowResult& window) {
  std::vector<Excess> excesses;
  for (auto first = window.violations.begin(); first != window.violations.end();) {
    const auto end = std::find_if(first, window.violations.end(), [&](const Violation& other) {
      return QuantityOf(other) != QuantityOf(*first) || other.component != first->component;
    });
    Violations violations;
    for (auto violation = first; violation != end; ++violation) violations.push_back(&*violation);
    excesses.push_back(ToExcess(QuantityOf(*first), violations));
    first = end;
  }
  return excesses;
}

std::string ExcessText(const Excess& excess) {
  return excess.budget.empty() ? excess.amount : excess.amount + ", " + excess.budget;
}

std::string SourcesText(const Excess& excess) {
  return fmt::format("{}", fmt::join(excess.sources, ", "));
}

}  // namespace leakgate
