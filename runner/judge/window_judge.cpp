#include "runner/judge/window_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "runner/attribution/code_owner.h"
#include "runner/attribution/leak_identity.h"
#include "runner/attribution/stack_pattern.h"
#include "runner/base/path_text.h"
#include "runner/base/time_limit.h"
#include "runner/judge/allowances.h"
#include "runner/judge/window_description.h"
#include "runner/judge/window_evidence.h"
#include "runner/judge/window_verdict.h"

namespace leakgate {
namespace {

// Why it is not known what a window lost, until the process is looked at.
constexpr const char* kPutOff =
    "it was to be scanned only at the end, with what other tests left, and did not get that far";

std::string NotInOrderText(bool is_child) {
  return fmt::format(
      "it was killed, or ended without exit or a return from main, or confines its system calls; "
      "end it in order, or limit \"outstanding\" in \"limits\": {{\"{}\": ...}}",
      is_child ? "process" : "program");
}

constexpr const char* kUnannouncedText =
    "its static objects may have been destroyed before its end was seen, since its runtime is "
    "linked into it; add leakgate's listener, link the runtime as a library (/MD), or limit "
    "\"outstanding\" in \"limits\": {\"program\": ...}";
constexpr const char* kUnannouncedWithoutAgentText =
    "its static objects may have been destroyed before its end was seen, since its runtime is "
    "linked into it; let leakgate's agent trace, link the runtime as a library (/MD), or limit "
    "\"outstanding\" in \"limits\": {\"program\": ...}";

void LeaveUnjudged(std::string why, WindowResult& result) {
  result.doubts.unjudged = std::move(why);
  DecideVerdict(result);
}

bool AnyAsksForReach(const WindowEvidence& evidence, CodeCharges& charges) {
  return std::any_of(evidence.blocks.begin(), evidence.blocks.end(), [&](const LiveBlock& block) {
    return AsksForReach(charges.BudgetOf(block.stack));
  });
}

bool AnyBudgetAsksForReach(const WindowResult& window) {
  return AsksForReach(*window.budget) ||
         std::any_of(window.code_budgets.begin(), window.code_budgets.end(),
                     [](const auto& budget) { return AsksForReach(*budget); });
}

}  // namespace

WindowJudge::WindowJudge(const RegionReader& region, int pid, const JudgeSurroundings& surroundings,
                         const ChildProcess* child)
    : region_(region),
      pid_(pid),
      around_(surroundings),
      child_(child),
      why_lost_unknown_(NotInOrderText(child != nullptr)),
      sites_(
          [this](std::uint32_t stack) {
            return SymboliseStack(region_, stack, around_.symbolizer);
          },
          [this](std::uint32_t stack) {
            return NameStackBySymbols(region_, stack, around_.symbolizer);
          }),
      file_words_(NewFileWords()) {
  if (around_.plants_leak) sites_.CountOtherFrameworks();
  sites_.FoldBy([this](const Finding& finding) { return FoldKeyOf(finding); });
}

// What budget files say of a stack: whose code it is, and which allowances match it.
std::string WindowJudge::FoldKeyOf(const Finding& finding) const {
  std::string key;
  const std::vector<const BudgetFile*> owners = around_.budgets.CodeOwners();
  if (!owners.empty()) {
    const BudgetFile* const owner = OwnerOf(owners, finding.stack);
    if (owner != nullptr) key = PathText(owner->path);
  }
  for (const BudgetFile* const file : around_.budgets.Files()) {
    for (const Allowance& allowance : file->allowances) {
      key += MatchesStack(allowance.stack, finding.stack) ? '+' : '-';
    }
  }
  return key;
}

std::uint32_t WindowJudge::Questions() const {
  if (child_ != nullptr && !child_->may_run_tests) return kAskAtProcessEnd | kHasNoTests;
  std::uint32_t questions = kAskAtIterationEnd | kAskAtProcessEnd | kAskAtNewDescriptors;
  if (around_.budgets.LimitsResources()) questions |= kAskAtTestBegin | kAskAtTestEnd;
  if (around_.budgets.DefersToSuites()) questions |= kAskAtSuiteEnd;
  if (around_.plants_leak) questions |= kAskToPlant;
  return questions;
}

bool WindowJudge::IsOfChild(const WindowCopy& window) const {
  return child_ != nullptr && (!child_->may_run_tests || window.kind == WindowKind::kProgram);
}

WindowResult WindowJudge::DescribeWindow(const WindowCopy& window) const {
  WindowResult result = MakeWindowResult(window, region_, around_.sources, around_.binary_name);
  if (!IsOfChild(window)) return result;
  result.kind = WindowKind::kProcess;
  result.name = child_->image;
  result.started_by = child_->started_by;
  result.iteration = child_->iteration;
  return result;
}

Expected<AppliedBudget> WindowJudge::BudgetOf(const WindowCopy& window,
                                              const WindowResult& described) const {
  if (around_.budgets.Files().empty()) return AppliedBudget{};
  if (IsOfChild(window)) {
    return around_.budgets.ForProcess(child_->image, {child_->started_by, child_->test_file});
  }
  if (window.kind == WindowKind::kProgram) return around_.budgets.ForProgram();
  if (window.kind == WindowKind::kTest) {
    return around_.budgets.ForTest({described.name, described.source_file});
  }
  // A suite's tests follow it, up to the next suite: so all suites together read each once.
  std::vector<TestId> tests;
  std::uint64_t text_bytes = 0;
  for (std::uint32_t id = window.id + 1; id < region_.WindowCount(); ++id) {
    const WindowCopy test = region_.Window(id);
    text_bytes += test.name.size() + test.file.size();
    if (text_bytes > 8ULL * kMaxTextBytes) return InconclusiveError(DamageText());
    if (test.kind != WindowKind::kTest) break;
    if (test.parent != window.id) continue;
    tests.push_back({test.name, SourceFileOf(test, around_.sources)});
  }
  return around_.budgets.ForSuite(tests);
}

bool WindowJudge::FindBudget(const WindowCopy& window, WindowResult& result) {
  Expected<AppliedBudget> budget = BudgetOf(window, result);
  if (!budget) {
    LeaveUnjudged(budget.error().message, result);
    return false;
  }
  if (*last_budget_ != *budget) {
    last_budget_ = std::make_shared<const AppliedBudget>(*std::move(budget));
  }
  result.budget = last_budget_;
  return true;
}

bool WindowJudge::NeedsAllNames(const WindowResult& result) const {
  const AppliedBudget& budget = *result.budget;
  const bool has_baseline = around_.baseline != nullptr && BaselineOf(result) != nullptr;
  return around_.names_all || has_baseline || IsGated(budget) || !budget.allowances.empty() ||
         suppressions_ || !around_.budgets.CodeOwners().empty();
}

WindowResult WindowJudge::JudgeWithoutBlocks(const WindowCopy& window) {
  WindowResult result = DescribeWindow(window);
  if (!FindBudget(window, result)) return result;
  AddFreeErrors(window.id, result);
  DecideVerdict(result);
  return result;
}

WindowResult WindowJudge::MakeInconclusive(const WindowCopy& window, std::string reason) {
  WindowResult result = DescribeWindow(window);
  if (!FindBudget(window, result)) return result;
  LeaveUnjudged(std::move(reason), result);
  return result;
}

WindowResult WindowJudge::Judge(const WindowCopy& window, const JudgeMoment& moment) {
  WindowResult result = DescribeWindow(window);
  if (!FindBudget(window, result)) return result;
  TakeSuppressions();
  const EvidenceRequest request = RequestFor(window.id, moment.asking_tid);
  Expected<WindowEvidence> evidence =
      AreJudgedAlike(result, moment) ? GatherAlike(request) : GatherEvidence(request);
  if (!evidence) {
    LeaveUnjudged(evidence.error().message, result);
    return result;
  }
  sites_.BeginWindow(evidence->blocks, evidence->facts);
  AddFreeErrors(window.id, result);
  AddResources(window.id, result);
  if (moment.has_new_descriptors && window.kind == WindowKind::kSuite) {
    result.descriptor_growth = DescriptorGrowth::kUnconfirmed;
  }
  CodeCharges charges = ChargesOf(result);
  Allow(request, charges, result, *evidence);
  AddMappings(request, charges, result);
  TellLost(request, charges, result, *evidence);
  const bool is_test = window.kind == WindowKind::kTest;
  const std::vector<EarlierFreeCopy> frees =
      is_test ? TakeEarlierFrees() : std::vector<EarlierFreeCopy>();
  if (result.reach_problem == kPutOff) {
    put_off_[window.id] = {*evidence, frees, LookPace::IsLarge(region_.CurrentTotals())};
  }
  TellRest(request, frees, charges, result, *evidence);
  if (window.kind == WindowKind::kProgram) NoteEnd(result);
  Conclude(*evidence, result);
  result.growth = result.growth - result.framework;
  DecideVerdict(result);  // a limit on growth is not about the framework's
  const bool is_open = KeepIfOpen(window.id, *std::move(evidence), result);
  const bool may_confirm = is_open ? result.budget->free_by == FreeBy::kTest
                                   : is_test && result.verdict == Verdict::kOverBudget;
  if (!around_.confirm_inline || !may_confirm) return result;
  around_.confirm_inline(result);
  const bool has_decided = is_open && result.verdict != Verdict::kUnconfirmed;
  if (has_decided || !AwaitsRepetition(result)) open_.erase(window.id);
  return result;
}

// Nobody looks at blocks of the program's once it has gone. Allowances take them one by one.
bool WindowJudge::AreJudgedAlike(const WindowResult& result, const JudgeMoment& moment) const {
  const bool is_program =
      result.kind == WindowKind::kProgram || result.kind == WindowKind::kProcess;
  const std::vector<const BudgetFile*> files = around_.budgets.Files();
  const bool has_allowances =
      suppressions_ || std::any_of(files.begin(), files.end(), [](const BudgetFile* file) {
        return !file->allowances.empty();
      });
  return is_program && moment.asking_tid == 0 && !has_allowances;
}

// By a look at the process, if it waits, and else by what earlier looks have found.
void WindowJudge::TellLost(const EvidenceRequest& request, CodeCharges& charges,
                           WindowResult& result, WindowEvidence& evidence) {
  if (request.asking_tid == 0) return MarkLost(evidence);
  if (!AnyAsksForReach(evidence, charges)) return;
  const LookPace::Clock::time_point begin = LookPace::Clock::now();
  const Totals totals = region_.CurrentTotals();
  pace_.SetForReport(region_.Boundaries() == BoundarySource::kStream);
  if (!pace_.MayLook(totals, begin)) {
    result.reach_problem = kPutOff;
    return;
  }
  result.reach_problem =
      FindLostBlocks(request, around_.variables, NamesHolderIn(result), sites_, evidence);
  pace_.NoteLook(totals, begin, LookPace::Clock::now());
  NoteLost(evidence);
}

BlockFilter WindowJudge::NamesHolderIn(const WindowResult& result) const {
  const bool is_test = result.kind == WindowKind::kTest;
  return [this, is_test, needs_all = NeedsAllNames(result)](const LiveBlock& block) {
    return needs_all || (is_test && (!block.is_static || region_.StaticWasAborted()));
  };
}

bool WindowJudge::KeepIfOpen(std::uint32_t window, WindowEvidence evidence, WindowResult& result) {
  const bool is_open = result.verdict == Verdict::kUnconfirmed;
  if (is_open || AwaitsRepetition(result)) open_[window] = std::move(evidence);
  if (!is_open) result.doubts.may_free_later = false;
  return is_open;
}

// `look` tells all windows that were put off what is lost. What holds the other blocks takes
// another one.
void WindowJudge::TellPutOff(const Look& look, int asking_tid, WindowResults& results) {
  std::map<std::uint32_t, PutOff> windows = std::exchange(put_off_, {});
  std::erase_if(windows, [&](const auto& window) { return !results.contains(window.first); });
  WindowEvidence all;
  std::map<std::uint32_t, BlockFilter> names_holder;  // by window
  for (auto& [window, put_off] : windows) {
    const Expected<std::vector<LiveBlock>> live = region_.StillLive(put_off.evidence.blocks);
    if (!live) return;  // they stay in doubt
    MarkReleased(*live, "freed before the iteration ended", Releasable::kAllOpen, put_off.evidence);
    if (look) TakeLost(*look, sites_, put_off.evidence);
    NoteLost(put_off.evidence);
    names_holder.emplace(window, NamesHolderIn(*results.Find(window)));
    all.blocks.insert(all.blocks.end(), put_off.evidence.blocks.begin(),
                      put_off.evidence.blocks.end());
    all.facts.insert(all.facts.end(), put_off.evidence.facts.begin(), put_off.evidence.facts.end());
  }
  if (windows.empty()) return;
  const std::string problem = FindLostBlocks(
      RequestFor(0, asking_tid), around_.variables,
      [&](const LiveBlock& block) { return names_holder.at(block.window)(block); }, sites_, all);
  auto facts = all.facts.begin();
  for (auto& [window, put_off] : windows) {
    for (BlockFacts& own : put_off.evidence.facts) {
      own = std::move(*facts++);
      if (!IsLost(own.reach) || !put_off.is_heap_large) continue;
      own.explanation = ExplainLoss(LossMoment::kPutOff, WindowKind::kTest);
    }
    WindowResult& result = *results.Find(window);
    result.reach_problem = problem;
    sites_.BeginWindow(put_off.evidence.blocks, put_off.evidence.facts);
    NoteLost(put_off.evidence);
    CodeCharges charges = ChargesOf(result);
    TellRest(RequestFor(window, asking_tid), put_off.frees, charges, result, put_off.evidence);
    Conclude(put_off.evidence, result);
    open_.erase(window);
    (void)KeepIfOpen(window, std::move(put_off.evidence), result);
  }
}

// Tells of the blocks that are retained which pass, and leaves the others of a test open.
void WindowJudge::TellRest(const EvidenceRequest& request,
                           const std::vector<EarlierFreeCopy>& frees, CodeCharges& charges,
                           WindowResult& result, WindowEvidence& evidence) {
  const bool is_test = result.kind == WindowKind::kTest;
  result.doubts.may_free_later = is_test && result.budget->free_by != FreeBy::kTest;
  const auto is_confirmed = [&](std::uint32_t stack) {
    return UsesDefaultPolicy(charges.BudgetOf(stack));
  };
  if (!NeedsAllNames(result)) {
    if (is_test) MarkStatic(region_, is_confirmed, evidence);
    const bool lost_are_known =
        request.asking_tid != 0 ? result.reach_problem.empty() : why_lost_unknown_.empty();
    MarkUnseen(!is_test && lost_are_known, sites_, evidence);
  }
  if (is_test) MarkReplaced(frees, request.window, sites_, evidence);
  if (around_.baseline != nullptr) MarkKnownBlocks(BaselineOf(result), sites_, evidence);
  if (!is_test) return;
  MarkStatic(region_, is_confirmed, evidence);
  MarkKeptByListeners(is_confirmed, sites_, evidence);
  MarkUnconfirmed([&](const LiveBlock& block) { return is_confirmed(block.stack); }, evidence);
}

// Since the last test that was judged: those of this one are among them.
std::vector<EarlierFreeCopy> WindowJudge::TakeEarlierFrees() {
  const std::uint32_t from = std::exchange(earlier_frees_taken_, region_.EarlierFreeCount());
  return region_.EarlierFrees(from);
}

EvidenceRequest WindowJudge::RequestFor(std::uint32_t window, int asking_tid) const {
  return {.region = region_,
          .pid = pid_,
          .window = window,
          .asking_tid = asking_tid,
          .reach_of_lost = [this](const LiveBlock& block) -> std::optional<Reach> {
            const bool may_be = block.window >= kMaxWindows ||
                                (block.window < has_lost_.size() && has_lost_[block.window]);
            if (!may_be) return std::nullopt;
            const auto lost = lost_.find(block.address);
            if (lost == lost_.end() || !IsSameBlock(lost->second.block, block)) return std::nullopt;
            return lost->second.reach;
          },
          .file_words = file_words_.get()};
}

CodeCharges WindowJudge::ChargesOf(const WindowResult& result) {
  std::vector<std::string> tests;
  if (result.kind == WindowKind::kTest) tests.push_back(result.name);
  if (!result.started_by.empty()) tests.push_back(result.started_by);
  return CodeCharges(around_.budgets, result.kind, std::move(tests), result.budget, sites_);
}

// One that LeakSanitizer could not read covers nothing.
void WindowJudge::TakeSuppressions() {
  for (const std::uint32_t count = region_.AllowanceCount(); allowances_read_ < count;
       ++allowances_read_) {
    const AllowanceCopy allowance = region_.Allowance(allowances_read_);
    if (allowance.kind != AllowanceKind::kSuppressions) continue;
    Expected<std::vector<Suppression>> all =
        ParseSuppressions(std::string(kDefaultSuppressions), allowance.reason);
    if (!all) continue;
    suppressions_.emplace(*std::move(all), [](const Frame&) { return std::vector<std::string>(); });
  }
}

// Tells whose the blocks are, and which of them allowances cover.
void WindowJudge::AllowMapped(const EvidenceRequest& request, CodeCharges& charges,
                              const WindowResult& result, WindowEvidence& evidence) {
  NameThreads(request, result.budget->thread_scope, sites_, evidence);
  AllowByScope(region_, sites_, evidence);
  AllowByBudget(
      [&](std::uint32_t stack) -> const AppliedBudget& { return charges.BudgetOf(stack); }, sites_,
      evidence);
}

void WindowJudge::AllowLedTo(const std::vector<Finding>& earlier, const WindowResult& result,
                             WindowEvidence& evidence) {
  CodeCharges charges = ChargesOf(result);
  leakgate::AllowLedTo(
      [this](std::uint32_t id) { return region_.Allowance(id); },
      [&](std::uint32_t stack) -> const AppliedBudget& { return charges.BudgetOf(stack); }, earlier,
      sites_, evidence);
}

// What a test means to leave by leakgate::ExpectOutstanding is on the heap.
void WindowJudge::Allow(const EvidenceRequest& request, CodeCharges& charges,
                        const WindowResult& result, WindowEvidence& evidence) {
  AllowMapped(request, charges, result, evidence);
  if (suppressions_) AllowBySuppressions(*suppressions_, sites_, evidence);
  AllowExpected(region_, request.window, sites_, evidence);
}

const BaselineWindow* WindowJudge::BaselineOf(const WindowResult& result) const {
  return around_.baseline->find(WindowIdentity(result.kind, result.name));
}

void WindowJudge::AddFreeErrors(std::uint32_t window, WindowResult& result) {
  result.free_errors = FreeErrorsOf(region_, window, sites_);
  if (around_.baseline != nullptr) ApplyBaseline(BaselineOf(result), result);
}

void WindowJudge::AddMappings(const EvidenceRequest& request, CodeCharges& charges,
                              WindowResult& result) {
  const bool may_fail = around_.budgets.LimitsMapped();
  MappedEvidence mapped = GatherMappings(request, may_fail ? Patience::kShort : Patience::kNone);
  AllowMapped(request, charges, result, mapped.pieces);
  if (around_.baseline != nullptr) MarkKnownBlocks(BaselineOf(result), sites_, mapped.pieces);
  if (result.kind == WindowKind::kTest) {
    MarkUnconfirmed(
        [&](const LiveBlock& piece) {
          return LeavesGrowthToDefault(charges.BudgetOf(piece.stack), piece.kind);
        },
        mapped.pieces);
  }
  result.mappings = GroupFindings(mapped.pieces.blocks, mapped.pieces.facts, sites_);
  result.reserved_bytes = mapped.reserved_bytes;
  if (request.asking_tid == 0) return;
  for (std::string& line : NameMappedFiles(request.pid, mapped.pieces)) {
    result.left_behind.push_back(std::move(line));
  }
}

void WindowJudge::AddResources(std::uint32_t window, WindowResult& result) {
  const auto begin = resources_.find(window);
  if (begin == resources_.end()) return;
  ResourcesLeft left = LeftBetween(begin->second, ReadResources(pid_));
  resources_.erase(begin);
  result.file_descriptors = left.file_descriptors;
  result.threads = left.threads;
  result.left_behind = std::move(left.names);
}

void WindowJudge::Conclude(WindowEvidence& evidence, WindowResult& result) {
  AllowLedTo({}, result, evidence);
  const auto conclude = [&](const std::vector<BlockFacts>& facts) {
    result.findings = GroupFindings(evidence.blocks, facts, sites_);
    ChargesOf(result).Charge(result);
    DecideByAllowances(result);
    LimitContents(around_.contents, result);
  };
  conclude(evidence.facts);
  if (IsOver(result) && HasUnseen(evidence, sites_)) conclude(AllSeen(evidence));
}

void WindowJudge::NoteTestBegin(std::uint32_t window) {
  if (!around_.budgets.LimitsResources()) return;
  resources_[window] = ReadResources(pid_);
}

void WindowJudge::EndSuite(std::uint32_t suite, WindowResults& results) {
  JudgeAgain(
      results, "freed by its suite's tear-down",
      [&](std::uint32_t window, const WindowResult& result) {
        return result.budget->free_by == FreeBy::kSuite && region_.Window(window).parent == suite;
      },
      nullptr);
}

// After all tear-down. What may be freed until the program's end still may.
void WindowJudge::EndIteration(int asking_tid, WindowResults& results) {
  std::optional<WholeLook> at_put_off = LookAtPutOff(asking_tid, results);
  const bool is_left_to_exit = at_put_off.has_value();
  const Look look = is_left_to_exit ? *std::move(at_put_off) : LookAtAll(asking_tid);
  TellPutOff(look, asking_tid, results);
  JudgeAgain(
      results, "freed before the iteration ended",
      [](std::uint32_t, const WindowResult& result) {
        return result.budget->free_by != FreeBy::kProgram;
      },
      &look);
  if (!is_left_to_exit) ChargeLost(look, LossMoment::kAfterWindow, results);
}

// Beside a large heap, one look at all blocks is enough, as the process exits: whatever is lost
// until then, it finds. What was put off must be told by now, which needs no such look if nothing
// leads to it. Otherwise returns nothing.
std::optional<WholeLook> WindowJudge::LookAtPutOff(int asking_tid, WindowResults& results) {
  if (!LookPace::IsLarge(region_.CurrentTotals())) return std::nullopt;
  std::vector<LiveBlock> open;
  for (const auto& [window, put_off] : put_off_) {
    const WindowEvidence& evidence = put_off.evidence;
    if (!results.contains(window)) continue;
    if (!evidence.suppressed.empty()) return std::nullopt;
    for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
      const BlockFacts& facts = evidence.facts[i];
      const bool is_asked =
          IsOpen(facts) && !IsLost(facts.reach) && sites_.MayBeUsers(evidence.blocks[i].stack);
      if (is_asked) open.push_back(evidence.blocks[i]);
    }
  }
  Expected<std::vector<LiveBlock>> live = region_.StillLive(open);
  if (!live) return std::nullopt;
  return LookForPointersTo(RequestFor(0, asking_tid), *std::move(live), around_.variables);
}

void WindowJudge::EndProcess(int asking_tid, ProcessEndMoment moment, WindowResults& results) {
  if (moment == ProcessEndMoment::kAfterDestructors) {
    return JudgeAfterDestructors(asking_tid, results);
  }
  const std::uint64_t allocated = region_.CurrentTotals().allocated_blocks;
  Look look = LookAtAll(asking_tid);
  TellPutOff(look, asking_tid, results);
  why_lost_unknown_ = look ? "" : look.error().message;
  ChargeLost(look, LossMoment::kAfterWindow, results);
  if (!look) return;
  FindAccounted(*look, asking_tid);
  live_at_end_ = std::move(look->blocks);
  allocated_at_end_ = allocated;
}

// What only an account of the program's own operator new leads to. The program may still free it:
// some do when they end, by that account.
void WindowJudge::FindAccounted(const WholeLook& look, int asking_tid) {
  if (!around_.operator_account || !region_.HasOwnOperators()) return;
  std::vector<LiveBlock> wanted;
  for (std::size_t i = 0; i < look.blocks.size(); ++i) {
    const LiveBlock& block = look.blocks[i];
    const bool is_held = look.reaches[i] == Reach::kRetained;
    if (is_held && sites_.MayBeUsers(block.stack)) wanted.push_back(block);
  }
  if (wanted.empty()) return;
  const OperatorAccount& account = around_.operator_account();
  if (account.handing_out.empty()) return;
  const IgnoredAccount here = FindAccount(account, look.blocks, region_, &around_.symbolizer);
  std::erase_if(wanted, [&](const LiveBlock& block) { return !here.IsHandedOut(block.stack); });
  if (wanted.empty()) return;
  Expected<std::vector<LiveBlock>> found =
      FindInAccount(RequestFor(0, asking_tid), here, std::move(wanted), around_.variables);
  if (found) accounted_ = *std::move(found);
}

// Charges what FindAccounted found, and was not freed since.
void WindowJudge::ChargeAccounted(WindowResults& results) {
  if (accounted_.empty()) return;
  WholeLook look;
  for (const LiveBlock& block : std::exchange(accounted_, {})) {
    look.blocks.push_back(block);
    look.reaches.push_back(Reach::kLost);
  }
  const Expected<std::vector<LiveBlock>> live = region_.StillLive(look.blocks);
  for (std::size_t i = 0; i < look.blocks.size(); ++i) {
    if (!live || !Contains(*live, look.blocks[i])) look.reaches[i] = Reach::kRetained;
  }
  ChargeLost(look, LossMoment::kInAccount, results);
}

void WindowJudge::JudgeAfterDestructors(int asking_tid, WindowResults& results) {
  Look look = LookAtAll(asking_tid);
  const bool was_told_before = why_lost_unknown_.empty();
  if (!look && was_told_before) return;
  why_lost_unknown_ = look ? "" : look.error().message;
  for (std::size_t i = 0; look && i < look->blocks.size(); ++i) {
    if (Contains(live_at_end_, look->blocks[i])) look->reaches[i] = Reach::kRetained;
  }
  ChargeLost(look, LossMoment::kWithDestructors, results);
}

void WindowJudge::EndProgram(WindowResults& results) {
  for (const auto& [window, put_off] : std::exchange(put_off_, {})) {
    WindowResult* const result = results.Find(window);
    if (result == nullptr || result->verdict == Verdict::kOverBudget) continue;
    LeaveUnjudged(kPutOff, *result);
    open_.erase(window);
  }
  ChargeAccounted(results);
  live_at_end_ = {};  // destructors have run, if they do at all: the memory is for the results
  JudgeAgain(
      results, "freed by the program's end",
      [](std::uint32_t, const WindowResult&) { return true; }, nullptr);
}

void WindowJudge::JudgeAgain(WindowResults& results, std::string_view when,
                             const WhichWindows& which, const Look* look) {
  for (auto open = open_.begin(); open != open_.end();) {
    auto& [window, evidence] = *open;
    WindowResult* const result = results.Find(window);
    if (result == nullptr || !which(window, *result)) {
      ++open;
      continue;
    }
    const Expected<std::vector<LiveBlock>> live = region_.StillLive(evidence.blocks);
    if (!live) return;
    result->doubts.may_free_later = false;
    // What is freed only as the program ends may have grown all the while.
    if (look != nullptr || result->budget->free_by != FreeBy::kTest) {
      const bool fails = result->verdict == Verdict::kOverBudget;
      MarkReleased(*live, when, fails ? Releasable::kUnconfirmed : Releasable::kAllOpen, evidence);
      const bool may_have_unmapped = !result->mappings.empty();
      if (result->budget->free_by != FreeBy::kTest || may_have_unmapped) {
        CodeCharges charges = ChargesOf(*result);
        AddMappings(RequestFor(window, 0), charges, *result);
      }
      if (look != nullptr && *look) {
        ApplyLook(**look, ExplainLoss(LossMoment::kAfterWindow, result->kind), sites_, evidence);
        NoteLost(evidence);
      }
      Conclude(evidence, *result);
    }
    open = open_.erase(open);
  }
}

Expected<WholeLook> WindowJudge::LookAtAll(int asking_tid) {
  if (allocated_at_end_ == region_.CurrentTotals().allocated_blocks) return WholeLook{};
  return LookAtWholeProgram(RequestFor(0, asking_tid), live_at_end_, around_.variables);
}

// Whose they are is asked of the lost ones alone: there are many blocks, and few are lost.
void WindowJudge::ChargeLost(const Look& look, LossMoment moment, WindowResults& results) {
  if (!look) return NoteUntold(look.error().message, results);
  std::map<std::uint32_t, std::vector<LostBlock>> lost;  // by window
  LostWithTexts texts(sites_);
  ContentsReader contents(moment == LossMoment::kInAccount ? 0 : ReadablePid());
  for (std::size_t i = 0; i < look->blocks.size(); ++i) {
    const LiveBlock& block = look->blocks[i];
    if (!IsLost(look->reaches[i])) continue;
    BlockFacts facts;
    SetLostWith(block, look->LostWithOf(static_cast<std::ptrdiff_t>(i)), texts, facts);
    facts.reach = look->reaches[i];
    LostBlock one{block, facts.reach, moment, facts.leading, facts.holder};
    NoteLostIn(block.window);
    const auto [known, is_new] = lost_.try_emplace(block.address, one);
    if (!is_new && IsSameBlock(known->second.block, block)) continue;
    if (IsUsers(sites_.Of(block.stack).finding)) {
      contents.Read(sites_.UsersPart(block), facts);
      one.contents = facts.contents;
      lost[block.window].push_back(one);
    }
    known->second = std::move(one);
  }
  for (auto& [window, evidence] : open_) {
    WindowResult* const result = results.Find(window);
    if (result == nullptr) continue;
    const bool has_lost = lost.erase(window) != 0;
    ApplyLook(*look, ExplainLoss(moment, result->kind), sites_, evidence);
    if (has_lost || !result->reach_problem.empty()) Conclude(evidence, *result);
  }
  for (const auto& [window, blocks] : lost) ChargeLostTo(window, blocks, results);
  NoteTold(results);
}

// Windows that are still open are judged once the process has gone.
void WindowJudge::ChargeLostTo(std::uint32_t id, const std::vector<LostBlock>& lost,
                               WindowResults& results) {
  const WindowCopy window = region_.Window(id);
  const bool is_judged_later = window.id == 0 || window.kind == WindowKind::kProgram ||
                               window.state != WindowState::kClosed || IsOfChild(window);
  if (is_judged_later) return;
  const WindowResult* const known = results.Find(id);
  WindowResult result = known != nullptr ? *known : JudgeWithoutBlocks(window);
  if (result.verdict == Verdict::kInconclusive) return;
  CodeCharges charges = ChargesOf(result);
  std::vector<LostBlock> counted = lost;
  std::erase_if(counted, [&](const LostBlock& one) {
    return !AsksForReach(charges.BudgetOf(one.block.stack));
  });
  if (counted.empty()) return;
  WindowEvidence late;
  for (const LostBlock& one : MoveToLost(counted, sites_, result)) {
    late.blocks.push_back(one.block);
    BlockFacts facts;
    facts.reach = one.reach;
    facts.leading = one.leading;
    facts.holder = one.holder;
    facts.contents = one.contents;
    facts.explanation = ExplainLoss(one.moment, result.kind);
    late.facts.push_back(std::move(facts));
  }
  Allow(RequestFor(id, 0), charges, result, late);
  if (around_.baseline != nullptr) MarkKnownBlocks(BaselineOf(result), sites_, late);
  AllowLedTo(result.findings, result, late);
  for (Finding& finding : GroupFindings(late.blocks, late.facts, sites_)) {
    result.findings.push_back(std::move(finding));
  }
  SortFindings(result.findings);
  ChargesOf(result).Charge(result);
  DecideByAllowances(result);
  LimitContents(around_.contents, result);
  results.Put(id, std::move(result));
}

void WindowJudge::NoteLost(WindowEvidence& evidence) {
  ContentsReader contents(ReadablePid());
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    BlockFacts& facts = evidence.facts[i];
    if (!IsLost(facts.reach)) continue;
    contents.Read(sites_.UsersPart(evidence.blocks[i]), facts);
    NoteLostIn(evidence.blocks[i].window);
    lost_.insert_or_assign(evidence.blocks[i].address,
                           LostBlock{evidence.blocks[i], facts.reach, LossMoment::kInWindow,
                                     facts.leading, facts.holder, facts.contents});
  }
}

void WindowJudge::NoteLostIn(std::uint32_t window) {
  if (window >= kMaxWindows) return;
  if (window >= has_lost_.size()) has_lost_.resize(window + 1);
  has_lost_[window] = true;
}

int WindowJudge::ReadablePid() const { return around_.contents == ShownContents::kNone ? 0 : pid_; }

// What was held when its window was judged may be lost by now.
void WindowJudge::NoteUntold(const std::string& problem, WindowResults& results) {
  const Expected<std::vector<LiveSum>> live = region_.SumBlocks();
  if (!live) return;
  std::set<std::uint32_t> windows;
  for (const LiveSum& sum : *live) windows.insert(sum.window);
  results.ForEach([&](std::uint32_t window, WindowResult& result) {
    if (!windows.contains(window) || !AnyBudgetAsksForReach(result)) return;
    const auto open = open_.find(window);
    if (open != open_.end()) ForgetReach(sites_, open->second);
    if (ForgetReach(result)) result.reach_problem = problem;
  });
}

// What was in doubt is live and held, or was freed and so not lost.
void WindowJudge::NoteTold(WindowResults& results) {
  results.ForEach([](std::uint32_t, WindowResult& result) {
    if (result.reach_problem.empty()) return;
    result.reach_problem.clear();
    for (Finding& finding : result.findings) {
      const bool was_in_doubt = IsUsers(finding) && finding.reach == Reach::kUnknown;
      if (was_in_doubt) finding.reach = Reach::kRetained;
    }
    SumFindings(result);
  });
}

// Notes how the process of its own ended. One that executes another program in its place does not
// come to an end.
void WindowJudge::NoteEnd(WindowResult& result) const {
  result.doubts.has_executed = has_executed_ || (child_ != nullptr && child_->has_executed);
  const bool is_unannounced =
      !why_lost_unknown_.empty() && region_.End() == ProgramEnd::kUnannounced;
  const char* const unannounced =
      region_.HasAgent() ? kUnannouncedText : kUnannouncedWithoutAgentText;
  result.doubts.losses = is_unannounced ? unannounced : why_lost_unknown_;
}

void WindowJudge::MarkLost(WindowEvidence& evidence) const {
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    const LiveBlock& block = evidence.blocks[i];
    const auto lost = lost_.find(block.address);
    if (lost == lost_.end() || !IsSameBlock(lost->second.block, block)) continue;
    BlockFacts& facts = evidence.facts[i];
    facts.reach = lost->second.reach;
    facts.leading = lost->second.leading;
    facts.holder = lost->second.holder;
    facts.contents = lost->second.contents;
    facts.explanation = ExplainLoss(lost->second.moment, WindowKind::kProgram);
  }
}

}  // namespace leakgate
