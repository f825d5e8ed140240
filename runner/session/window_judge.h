// Judges the windows of one region: reads what is outstanding, tells the
// framework's own, what is allowed, replaced, lost and retained apart, and holds
// the rest against the budgets that apply. One thread at a time.
//
//   Judge         at a window's end, while the process waits, or after its end
//   EndSuite      a suite is torn down
//   EndIteration  all tear-down is done: what has been freed since is no leak
//   EndProcess    a child process is about to end in order
//   EndProgram    the process has gone
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runner/attribution/call_sites.h"
#include "runner/budget/budget_set.h"
#include "runner/judgement/baseline.h"
#include "runner/judgement/code_charges.h"
#include "runner/report/run_result.h"
#include "runner/session/linux/process_resources.h"
#include "runner/session/linux/region_file.h"
#include "runner/session/test_snapshots.h"
#include "runner/session/window_description.h"
#include "runner/session/window_evidence.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

// Repeats `test` at once, and tells its findings' dispositions (--confirm=inline).
using ConfirmInline = std::function<void(WindowResult& window)>;

// What a judge works with; all outlive it.
struct JudgeSurroundings {
  const BudgetSet& budgets;
  const TestSources& sources;
  Symbolizer& symbolizer;
  Variables& variables;
  std::string binary_name;
  ConfirmInline confirm_inline = nullptr;  // none: windows stay unconfirmed for now
  GateMode mode = GateMode::kGate;
  const Baseline* baseline = nullptr;  // of `leakgate run --baseline`
  TestSnapshots* snapshots = nullptr;  // of `leakgate run --snapshots`
};

// The child process that a region is of, where it is not the program under test: its one
// window is of the kind kProcess.
struct ChildProcess {
  std::string image;       // the file name
  std::string started_by;  // the test that was running, "Suite.Test"; empty if none was
  std::string test_file;   // that test's source; empty if not known
  int iteration = 1;
  bool has_executed = false;  // another program, and so did not end in order
};

// While the process waits: the thread that asks. 0: it has gone.
struct JudgeMoment {
  int asking_tid = 0;
};

class WindowJudge {
 public:
  // `child` outlives it; nullptr: the region is of the program under test.
  WindowJudge(RegionFile& region, const JudgeSurroundings& surroundings,
              const ChildProcess* child = nullptr);

  // The result of `window` as its live blocks are now.
  [[nodiscard]] WindowResult Judge(const WindowCopy& window, const JudgeMoment& moment);

  // The result of a window that ended with nothing outstanding.
  [[nodiscard]] WindowResult Pass(const WindowCopy& window);

  // The result of a window that is not looked at, for `reason`: inconclusive.
  [[nodiscard]] WindowResult Doubt(const WindowCopy& window, std::string reason);

  // A test begins: what the process has is kept, for budgets that ask.
  void NoteBegin(std::uint32_t window);

  // Judges the windows that are still open to doubt once more. `results` by
  // window id.
  void EndIteration(int asking_tid, std::map<std::uint32_t, WindowResult>& results);

  // Tells what is lost, while what the process holds is still held.
  void EndProcess(int asking_tid);

  // The same of the tests of a suite that has been torn down, and of those that
  // may free until the program's end.
  void EndSuite(std::uint32_t suite, std::map<std::uint32_t, WindowResult>& results);
  void EndProgram(std::map<std::uint32_t, WindowResult>& results);

 private:
  struct LostBlock {
    LiveBlock block;
    Reach reach;
  };

  WindowResult DescribeWindow(const WindowCopy& window) const;
  Expected<AppliedBudget> BudgetOf(const WindowCopy& window, const WindowResult& described) const;
  // False: inconclusive, and the result says why.
  bool FindBudget(const WindowCopy& window, WindowResult& result);
  using WhichWindows = std::function<bool(std::uint32_t window, const WindowResult& result)>;

  std::vector<EarlierFreeCopy> TakeEarlierFrees();
  EvidenceRequest RequestFor(std::uint32_t window, int asking_tid) const;
  CodeCharges ChargesOf(WindowKind kind, const WindowResult& result);
  void Allow(CodeCharges& charges, WindowEvidence& evidence);
  const BaselineWindow* BaselineOf(const WindowResult& result) const;
  void AddFreeErrors(std::uint32_t window, WindowResult& result);
  void AddMappings(const EvidenceRequest& request, CodeCharges& charges, WindowResult& result);
  void AddResources(std::uint32_t window, WindowResult& result);
  void Conclude(const WindowEvidence& evidence, WindowResult& result);
  void Defer(WindowResult& result) const;
  void JudgeAgain(std::map<std::uint32_t, WindowResult>& results, std::string_view when,
                  const WhichWindows& which);
  // Why it could not be told; empty: it was.
  std::string FindLostOfProgram(int asking_tid);
  void RecallLost(WindowEvidence& evidence) const;
  void DoubtChild(WindowResult& result) const;

  RegionFile& file_;
  const RegionReader& region_;
  const JudgeSurroundings& around_;
  const ChildProcess* const child_;
  std::string why_lost_unknown_;  // of a child; empty: what is lost was told
  std::shared_ptr<const AppliedBudget> last_budget_ = NoBudget();
  CallSites sites_;
  std::map<std::uint32_t, WindowEvidence> open_;         // of windows whose verdict is open
  std::vector<LostBlock> lost_of_program_;               // as the last iteration ended
  std::map<std::uint32_t, ProcessResources> resources_;  // at the begin of open windows
  std::uint32_t earlier_frees_taken_ = 0;
  int asking_tid_ = 0;  // while windows are judged again and the process waits
};

}  // namespace leakgate
