// Judges the windows of one region: reads what is outstanding, separates what is the
// framework's, allowed, replaced, lost and retained, and compares the rest with the
// budgets that apply. One thread at a time.
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

// The thread that asks while the process waits; 0 if the process has gone.
struct JudgeMoment {
  int asking_tid = 0;
};

class WindowJudge {
 public:
  // `region` is that of `pid`. It outlives the judge, as `child` does. If `child` is null, the
  // region is of the program under test.
  WindowJudge(const RegionReader& region, int pid, const JudgeSurroundings& surroundings,
              const ChildProcess* child = nullptr);

  // Returns what the agent is to ask besides its windows' verdicts, as kAsk... bits.
  [[nodiscard]] std::uint32_t Questions() const;

  // Judges `window` by the blocks that are live now.
  [[nodiscard]] WindowResult Judge(const WindowCopy& window, const JudgeMoment& moment);

  // Judges a window that ended with nothing outstanding.
  [[nodiscard]] WindowResult JudgeWithoutBlocks(const WindowCopy& window);

  // Makes the inconclusive result of a window that is not judged, for `reason`.
  [[nodiscard]] WindowResult MakeInconclusive(const WindowCopy& window, std::string reason);

  // Notes what descriptors and threads the process has as a test begins, if a budget limits them.
  void NoteTestBegin(std::uint32_t window);

  // Judges the unconfirmed windows once more. `results` are by window id.
  void EndIteration(int asking_tid, std::map<std::uint32_t, WindowResult>& results);

  // Finds what is lost while the process still holds what it holds.
  void EndProcess(int asking_tid);

  // Judges once more the tests of a suite that has been torn down, or those that may free until the
  // program's end.
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
  void DeferVerdict(WindowResult& result) const;
  void JudgeAgain(std::map<std::uint32_t, WindowResult>& results, std::string_view when,
                  const WhichWindows& which);
  // Returns why it could not be told what is lost, or an empty text.
  std::string FindLostOfProgram(int asking_tid);
  void MarkLostOfProgram(WindowEvidence& evidence) const;
  void RefuseUnprovenPass(WindowResult& result) const;

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
