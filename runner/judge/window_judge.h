// Judges the windows of one region: reads what is outstanding, separates what is the
// framework's, allowed, replaced, lost and retained, and compares the rest with the
// budgets that apply. One thread at a time.
//
//   Judge         at a window's end, while the process waits, or after its end
//   EndSuite      a suite is torn down
//   EndIteration  all tear-down is done: what has been freed since is no leak
//   EndProcess    the process is about to end in order, and once more after static destructors
//   EndProgram    the process has gone
//
// Where an iteration and the process end, all live blocks are looked at, whichever window allocated
// them: what is lost by then fails its window, though something held it when that was judged.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/attribution/call_sites.h"
#include "runner/attribution/suppressions.h"
#include "runner/judge/baseline.h"
#include "runner/judge/code_charges.h"
#include "runner/judge/judge_surroundings.h"
#include "runner/judge/look_pace.h"
#include "runner/judge/lost_later.h"
#include "runner/judge/window_description.h"
#include "runner/judge/window_evidence.h"
#include "runner/judge/window_results.h"
#include "runner/judge/window_verdict.h"
#include "runner/process/proc_files.h"

namespace leakgate {

// The thread that asks while the process waits; 0 if the process has gone.
struct JudgeMoment {
  int asking_tid = 0;
  bool has_new_descriptors = false;  // which were not open when the suite began
};

// Before and after what exit handlers and static destructors free.
enum class ProcessEndMoment { kBeforeDestructors, kAfterDestructors };

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

  // Judges the unconfirmed windows once more, and those that lost blocks since they ended.
  void EndIteration(int asking_tid, WindowResults& results);

  // Finds what is lost as the process ends: before destructors, while it still holds what it holds.
  void EndProcess(int asking_tid, ProcessEndMoment moment, WindowResults& results);

  // Notes that the process executed another program in its place, and so had no end of its own.
  void NoteExecuted() { has_executed_ = true; }

  // Judges once more the tests of a suite that has been torn down, or those that may free until the
  // program's end.
  void EndSuite(std::uint32_t suite, WindowResults& results);
  void EndProgram(WindowResults& results);

 private:
  std::string FoldKeyOf(const Finding& finding) const;
  // Returns whether the window is that of a child process, and of no test or suite that ran there.
  bool IsOfChild(const WindowCopy& window) const;
  WindowResult DescribeWindow(const WindowCopy& window) const;
  Expected<AppliedBudget> BudgetOf(const WindowCopy& window, const WindowResult& described) const;
  // Returns whether blocks that differ in their addresses alone are judged alike.
  bool AreJudgedAlike(const WindowResult& result, const JudgeMoment& moment) const;
  // Returns whether the window's verdict, or what was asked for, hangs on the names of blocks that
  // pass by proof.
  bool NeedsAllNames(const WindowResult& result) const;
  // Returns false where the window is inconclusive; the result says why.
  bool FindBudget(const WindowCopy& window, WindowResult& result);
  using WhichWindows = std::function<bool(std::uint32_t window, const WindowResult& result)>;

  // Reads the suppressions that the program has for LeakSanitizer, once it has told them.
  void TakeSuppressions();
  std::vector<EarlierFreeCopy> TakeEarlierFrees();
  EvidenceRequest RequestFor(std::uint32_t window, int asking_tid) const;
  CodeCharges ChargesOf(const WindowResult& result);
  // The stages of window_verdict.h, on what is known of a window's blocks.
  void AllowMapped(const EvidenceRequest& request, CodeCharges& charges, const WindowResult& result,
                   WindowEvidence& evidence);
  void Allow(const EvidenceRequest& request, CodeCharges& charges, const WindowResult& result,
             WindowEvidence& evidence);
  void TellLost(const EvidenceRequest& request, CodeCharges& charges, WindowResult& result,
                WindowEvidence& evidence);
  void TellRest(const EvidenceRequest& request, const std::vector<EarlierFreeCopy>& frees,
                CodeCharges& charges, WindowResult& result, WindowEvidence& evidence);
  // A window that was not looked at as it ended (look_pace.h): what it left then, by which stage 4
  // of window_verdict.h goes on.
  struct PutOff {
    WindowEvidence evidence;
    std::vector<EarlierFreeCopy> frees;
    bool is_heap_large = false;
  };
  // Returns which blocks of the window are to have what holds them named.
  [[nodiscard]] BlockFilter NamesHolderIn(const WindowResult& result) const;
  // Keeps the evidence of a window whose verdict is open, or that retains what may be freed later
  // besides what it fails for. Returns whether the verdict is open.
  bool KeepIfOpen(std::uint32_t window, WindowEvidence evidence, WindowResult& result);
  const BaselineWindow* BaselineOf(const WindowResult& result) const;
  void AddFreeErrors(std::uint32_t window, WindowResult& result);
  void AddMappings(const EvidenceRequest& request, CodeCharges& charges, WindowResult& result);
  void AddResources(std::uint32_t window, WindowResult& result);
  // `earlier` are findings of the window that were told before.
  void AllowLedTo(const std::vector<Finding>& earlier, const WindowResult& result,
                  WindowEvidence& evidence);
  void Conclude(WindowEvidence& evidence, WindowResult& result);
  // What a look at the whole program told; a failed one says why.
  using Look = Expected<WholeLook>;
  void TellPutOff(const Look& look, int asking_tid, WindowResults& results);
  // `look` is null if the process was not looked at.
  void JudgeAgain(WindowResults& results, std::string_view when, const WhichWindows& which,
                  const Look* look);
  [[nodiscard]] Look LookAtAll(int asking_tid);
  [[nodiscard]] std::optional<WholeLook> LookAtPutOff(int asking_tid, WindowResults& results);
  // What static destructors let go of was held as long as the program ran: that is no loss.
  void JudgeAfterDestructors(int asking_tid, WindowResults& results);
  void FindAccounted(const WholeLook& look, int asking_tid);
  void ChargeAccounted(WindowResults& results);
  // Charges what is lost by now to the windows that allocated it.
  void ChargeLost(const Look& look, LossMoment moment, WindowResults& results);
  void ChargeLostTo(std::uint32_t window, const std::vector<LostBlock>& lost,
                    WindowResults& results);
  // REQUIRES: the process waits.
  void NoteLost(WindowEvidence& evidence);
  // The process whose lost blocks may be read; 0: none is to be.
  [[nodiscard]] int ReadablePid() const;
  void NoteLostIn(std::uint32_t window);
  void NoteUntold(const std::string& problem, WindowResults& results);
  void NoteTold(WindowResults& results);
  void MarkLost(WindowEvidence& evidence) const;
  void NoteEnd(WindowResult& result) const;

  const RegionReader& region_;
  const int pid_;
  const JudgeSurroundings& around_;
  const ChildProcess* const child_;
  std::string why_lost_unknown_;  // at the process's end; empty: what is lost was told
  bool has_executed_ = false;
  std::shared_ptr<const AppliedBudget> last_budget_ = NoBudget();
  CallSites sites_;
  LookPace pace_;
  std::map<std::uint32_t, PutOff> put_off_;
  std::map<std::uint32_t, WindowEvidence> open_;  // of windows whose verdict is open
  std::vector<LiveBlock> accounted_;              // as FindAccounted has it, by address
  std::vector<LiveBlock> live_at_end_;  // before destructors ran, if the process was looked at then
  std::optional<std::uint64_t> allocated_at_end_;        // blocks, up to then in all
  std::shared_ptr<FileWords> file_words_;                // of looks at the process
  std::unordered_map<std::uint64_t, LostBlock> lost_;    // all that were found, by address
  std::vector<bool> has_lost_;                           // by window: whether lost_ has any of it
  std::map<std::uint32_t, ProcessResources> resources_;  // at the begin of open windows
  std::uint32_t earlier_frees_taken_ = 0;
  std::optional<Suppressions> suppressions_;  // the program's own
  std::uint32_t allowances_read_ = 1;         // as TakeSuppressions has
};

}  // namespace leakgate
