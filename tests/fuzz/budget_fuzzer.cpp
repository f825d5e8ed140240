// Any text as a budget file: it parses, or its error is one line with a place. What
// parses can be asked, checked and tightened, and what comes out of that parses again.
#include <cstdint>
#include <string>

#include "runner/budget/budget_problems.h"
#include "runner/budget/budget_set.h"
#include "runner/budget/ratchet.h"
#include "runner/budget/read_budget.h"

namespace {

using namespace leakgate;

constexpr const char* kPath = "fuzz.leakgate.json";

void Ask(const BudgetFile& file) {
  (void)DescribeBudget(file);
  (void)CheckDates(file, Today());
  const BudgetSet budgets({file}, "/usr/bin/net_test");
  const std::vector<TestId> tests = {{"HttpTest.KeepAlive", "src/http_test.cc"},
                                     {"HttpTest/1.Close/2", ""}};
  (void)CheckAgainstTests(budgets, tests);
  for (const TestId& test : tests) {
    (void)budgets.ForTest(test);
    (void)budgets.ForProcess("helper", test);
  }
  (void)budgets.ForSuite(tests);
  (void)budgets.ForProgram();
  for (const BudgetFile* owner : budgets.CodeOwners()) {
    (void)budgets.ForCode(*owner, WindowKind::kTest, {"HttpTest.KeepAlive"});
  }
}

// As of a run that used nothing, and of one that used the first of everything.
void Tighten(const BudgetFile& file, const std::string& text) {
  BudgetUsage some;
  if (!file.overrides.empty())
    some.overrides[file.overrides[0].line] = {{"test.outstanding.bytes", 1}};
  if (!file.allowances.empty()) some.allowances[file.allowances[0].line] = {1, 1};
  for (const BudgetUsage& usage : {BudgetUsage{}, some}) {
    const auto tightened = Ratchet(kPath, text, usage, UnusedEntries::kRemove);
    if (!tightened || !ParseBudgetFile(kPath, tightened->text)) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  const auto file = ParseBudgetFile(kPath, text);
  if (file) {
    Ask(*file);
    Tighten(*file, text);
  } else if (file.error().message.find(kPath) == std::string::npos ||
             file.error().message.find('\n') != std::string::npos) {
    __builtin_trap();
  }
  return 0;
}
