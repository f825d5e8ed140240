// Judges one window of one region: reads what is outstanding, groups and
// symbolises it, tells the framework's own apart and holds the rest against the
// budget that applies. One thread at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "runner/attribution/group_findings.h"
#include "runner/budget/budget_set.h"
#include "runner/report/run_result.h"
#include "runner/snapshot/region_reader.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

// What is known of the tests before they run: "Suite.Test" to its source.
struct TestSource {
  std::string file;
  int line = 0;
};
using TestSources = std::map<std::string, TestSource>;

// What a judge works with; all outlive it.
struct JudgeSurroundings {
  const BudgetSet& budgets;
  const TestSources& sources;
  Symbolizer& symbolizer;
  std::string binary_name;
};

class WindowJudge {
 public:
  WindowJudge(const RegionReader& region, const JudgeSurroundings& surroundings)
      : region_(region), around_(surroundings) {}

  // The result of `window` as its live blocks are now.
  [[nodiscard]] WindowResult Judge(const WindowCopy& window);

  // The result of a window that ended with nothing outstanding.
  [[nodiscard]] WindowResult Pass(const WindowCopy& window);

 private:
  WindowResult Describe(const WindowCopy& window) const;
  Expected<AppliedBudget> BudgetOf(const WindowCopy& window, const WindowResult& described) const;
  void Decide(const WindowCopy& window, WindowResult& result);
  const ResolvedStack& Resolve(std::uint32_t stack);

  const RegionReader& region_;
  const JudgeSurroundings& around_;
  std::shared_ptr<const AppliedBudget> last_budget_ = NoBudget();
  std::unordered_map<std::uint32_t, ResolvedStack> stacks_;
};

// A test's result as the region tells it.
[[nodiscard]] TestStatus StatusOf(const WindowCopy& window);

}  // namespace leakgate
