// What a judge needs besides the region: the budgets, where tests are defined, the baseline, and
// which process the region is of. These are values and references only.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "runner/budget/budget_set.h"
#include "runner/judge/contents.h"
#include "runner/reach/operator_account.h"
#include "runner/result/run_result.h"
#include "runner/symbols/symbolizer.h"
#include "runner/symbols/variables.h"

namespace leakgate {

struct Baseline;

// Where tests are defined, by "Suite.Test". It is known before they run.
struct TestSource {
  std::string file;
  int line = 0;
};
using TestSources = std::map<std::string, TestSource>;

// Repeats a window's test at once, and decides its findings' dispositions, or tells what made it
// exceed its limits (--confirm=inline).
using ConfirmInline = std::function<void(WindowResult& window)>;

// Returns what account the program's own operator new keeps. It lives as long as the run.
using FindOperatorAccount = std::function<const OperatorAccount&()>;

// All that is referred to outlives the judge.
struct JudgeSurroundings {
  const BudgetSet& budgets;
  const TestSources& sources;
  Symbolizer& symbolizer;
  Variables& variables;
  std::string binary_name;
  ConfirmInline confirm_inline = nullptr;          // none: windows stay unconfirmed for now
  FindOperatorAccount operator_account = nullptr;  // none: as if there was no account
  GateMode mode = GateMode::kGate;
  const Baseline* baseline = nullptr;  // of `leakgate run --baseline`
  bool names_all = false;              // whether what passes by proof is symbolised, too
  bool plants_leak = false;            // of `leakgate run --plant-leak`
  ShownContents contents = ShownContents::kFew;
};

// The process that a region is of, if it is not the program under test. Its program window is of
// the kind kProcess. It has no others, unless tests may run there.
struct ChildProcess {
  std::string image;       // the file name
  std::string started_by;  // the test that was running, "Suite.Test"; empty if none was
  std::string test_file;   // that test's source; empty if not known
  int iteration = 1;
  bool has_executed = false;  // another program, and so did not end in order
  bool may_run_tests = false;
};

}  // namespace leakgate
