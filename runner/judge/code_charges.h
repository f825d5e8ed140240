// Which budget a window's blocks are charged to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/attribution/call_sites.h"
#include "runner/budget/budget_set.h"
#include "runner/result/run_result.h"

namespace leakgate {

// Finds the budget that a window's blocks are charged to: if budget files own code, that of the
// component whose code allocated them, otherwise the window's own. One for each window; one thread.
class CodeCharges {
 public:
  // `tests` are those in the window, by full name. All arguments outlive this object.
  CodeCharges(const BudgetSet& budgets, WindowKind kind, std::vector<std::string> tests,
              const std::shared_ptr<const AppliedBudget>& own, CallSites& sites)
      : budgets_(budgets),
        owners_(budgets.CodeOwners()),
        kind_(kind),
        tests_(std::move(tests)),
        own_(own),
        sites_(sites) {}

  [[nodiscard]] const AppliedBudget& BudgetOf(std::uint32_t stack) { return *Find(stack); }

  // Returns the budget that the blocks of a stack with these frames are charged to.
  [[nodiscard]] const AppliedBudget& BudgetOf(const std::vector<Frame>& stack) {
    return *FindFor(stack);
  }

  // Sets the component of each finding that another budget is charged for, and keeps those budgets.
  void Charge(WindowResult& window);

 private:
  using Budget = std::shared_ptr<const AppliedBudget>;

  void Charge(std::vector<Finding>& findings, WindowResult& window);
  const Budget& Find(std::uint32_t stack);
  const Budget& FindFor(const std::vector<Frame>& stack);

  const BudgetSet& budgets_;
  const std::vector<const BudgetFile*> owners_;
  const WindowKind kind_;
  const std::vector<std::string> tests_;
  const Budget& own_;
  CallSites& sites_;
  std::unordered_map<const BudgetFile*, Budget> of_owner_;
  std::unordered_map<std::uint32_t, Budget> of_stack_;
};

}  // namespace leakgate
