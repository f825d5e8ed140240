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
#include "runner/judge/baseline.h"
#include "runner/judge/judge_surroundings.h"
#include "runner/judge/window_description.h"
#include "runner/judge/window_evidence.h"
#include "runner/judge/window_verdict.h"
#include "runner/process/proc_files.h"

namespace leakgate {

// While the process waits: the thread that asks. 0: it has gone.
struct JudgeMoment {
  int asking_tid = 0;
};

class WindowJudge {
 public:
  // `region` is `pid`'s, and outlives this, as `child` does; no child: the region is of the
  // program under test.
  WindowJudge(const RegionReader& region, int pid, const JudgeSurroundings& surroundings,
              const ChildProcess* child = nullptr);

  // What the agent is to ask besides its windows' verdicts: kAsk... bits.
  [[nodiscard]] std::uint32_t Questions() const;

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
  // Returns false where the window is inconclusive; the result says why.
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

  const RegionReader& region_;
  const int pid_;
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
