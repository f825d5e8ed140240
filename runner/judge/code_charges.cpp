#include "runner/judge/code_charges.h"

#include <algorithm>

#include "runner/attribution/code_owner.h"

namespace leakgate {

// A block of nobody's code stays with the test's own component, if it has one.
const CodeCharges::Budget& CodeCharges::FindFor(const std::vector<Frame>& stack) {
  if (owners_.empty()) return own_;
  const BudgetFile* const owner = OwnerOf(owners_, stack);
  const bool is_nobodys = owner == nullptr || owner->component == kUnowned;
  if (owner == nullptr || (is_nobodys && !own_->component.empty())) return own_;
  Budget& budget = of_owner_[owner];
  if (budget == nullptr) {
    budget = std::make_shared<const AppliedBudget>(budgets_.ForCode(*owner, kind_, tests_));
  }
  return budget;
}

const CodeCharges::Budget& CodeCharges::Find(std::uint32_t stack) {
  if (owners_.empty()) return own_;
  const auto known = of_stack_.find(stack);
  if (known != of_stack_.end()) return known->second;
  return of_stack_.emplace(stack, FindFor(sites_.Of(stack).finding.stack)).first->second;
}

void CodeCharges::Charge(WindowResult& window) {
  window.code_budgets.clear();
  Charge(window.findings, window);
  Charge(window.mappings, window);
}

void CodeCharges::Charge(std::vector<Finding>& findings, WindowResult& window) {
  for (Finding& finding : findings) {
    const Budget& budget = FindFor(finding.stack);
    if (budget == own_) continue;
    finding.component = budget->component;
    const bool is_known = std::find(window.code_budgets.begin(), window.code_budgets.end(),
                                    budget) != window.code_budgets.end();
    if (!is_known) window.code_budgets.push_back(budget);
  }
}

}  // namespace leakgate
