// The judge as a whole: a region that the agent's own code has recorded in this process, and
// budgets as their files have them, in; results of windows out. No process is stopped for it, so
// none of these blocks is told lost from retained.
#include "runner/judge/window_judge.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "plugin/agent/mappings/mapping_table.h"
#include "plugin/agent/record/free_errors.h"
#include "plugin/agent/windows/allowances.h"
#include "runner/attribution/code_owner.h"
#include "runner/attribution/leak_identity.h"
#include "runner/budget/read_budget.h"
#include "tests/unit/agent/traced_region.h"
#include "tests/unit/judge/gtest/record_property.h"

// Call sites of a user's, by their functions' names. What follows the call keeps each of them on
// the stack.
namespace judged_code {

__attribute__((noinline)) void GrowPool(std::uint64_t address, std::uint64_t bytes) {
  leakgate::test::RecordBlock(address, bytes);
  asm volatile("");
}

__attribute__((noinline)) void FillCache(std::uint64_t address, std::uint64_t bytes) {
  leakgate::test::RecordBlock(address, bytes);
  asm volatile("");
}

}  // namespace judged_code

namespace leakgate::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kHeap = 0x7100'0000;
constexpr std::uint64_t kStep = 0x100;
constexpr const char* kTest = "PoolTest.Grows";
constexpr int kNoProcess = 0x3fff'ffff;

// "outstanding_blocks: 2 of 1".
MATCHER_P3(Exceeds, metric, actual, limit, "") {
  return arg.metric == metric && arg.actual == actual && arg.limit.value == limit;
}

ChildProcess ServerOf(const std::string& test) {
  ChildProcess child;
  child.image = "server";
  child.started_by = test;
  return child;
}

class WindowJudgeTest : public RecordingTest {
 protected:
  void SetUp() override {
    window_ =
        agent::OpenWindow({.kind = WindowKind::kTest, .name = kTest, .file = "pool_test.cpp"});
  }
  void TearDown() override {
    LeaveWindow(window_);
    while (next_ > kHeap) Free(next_ - kStep);
  }

  std::uint64_t Pool(std::uint64_t bytes) {
    judged_code::GrowPool(next_, bytes);
    return std::exchange(next_, next_ + kStep);
  }
  std::uint64_t Cache(std::uint64_t bytes) {
    judged_code::FillCache(next_, bytes);
    return std::exchange(next_, next_ + kStep);
  }
  // The last that was allocated, mostly; another leaves a gap.
  void Free(std::uint64_t address) {
    agent::RecordFree(At(address), {FreeKind::kFree, LEAKGATE_CALLER_FRAME()});
    if (address + kStep == next_) next_ = address;
  }

  // Adds a budget file, from its members besides "component".
  void AddBudget(const std::string& component, const std::string& members) {
    Expected<BudgetFile> file = ParseBudgetFile(
        component + ".leakgate.json", R"({"component": ")" + component + R"(", )" + members + "}");
    ASSERT_TRUE(file) << file.error().message;
    files_.push_back(*std::move(file));
  }
  // Limits tests in which the pool is used.
  void LimitTests(const std::string& limits) {
    AddBudget("pool", R"("limits": {"test": {)" + limits + "}}");
  }

  WindowJudge& Judge() {
    if (judge_) return *judge_;
    static Symbolizer symbolizer(IsRuntimeModule);
    static Variables variables(IsRuntimeModule);
    budgets_.emplace(files_, "pool_test");
    surroundings_.emplace(JudgeSurroundings{.budgets = *budgets_,
                                            .sources = sources_,
                                            .symbolizer = symbolizer,
                                            .variables = variables,
                                            .binary_name = "pool_test",
                                            .confirm_inline = nullptr,
                                            .mode = GateMode::kGate,
                                            .baseline = baseline_});
    return judge_.emplace(Reader(), pid_, *surroundings_, child_);
  }
  WindowResult JudgeWindow(int asking_tid = 0) {
    return Judge().Judge(Reader().Window(window_), {.asking_tid = asking_tid});
  }

  // A child that a budget file names has one window, its program's.
  void OpenWindowOf(const ChildProcess& child) {
    LeaveWindow(window_);
    window_ = agent::OpenWindow({.kind = WindowKind::kProgram, .name = {}, .file = {}});
    child_ = &child;
  }

  std::uint32_t window_ = 0;
  std::uint64_t next_ = kHeap;
  std::vector<BudgetFile> files_;
  TestSources sources_;
  const Baseline* baseline_ = nullptr;
  const ChildProcess* child_ = nullptr;
  int pid_ = kNoProcess;
  std::optional<BudgetSet> budgets_;
  std::optional<JudgeSurroundings> surroundings_;
  std::optional<WindowJudge> judge_;
};

TEST_F(WindowJudgeTest, PassesWhereNothingIsOutstanding) {
  Free(Pool(64));
  const WindowResult result = JudgeWindow();
  EXPECT_EQ(result.verdict, Verdict::kPass);
  EXPECT_EQ(result.outstanding, Amount{});
  EXPECT_THAT(result.findings, IsEmpty());
}

TEST_F(WindowJudgeTest, TellsTheWindowAsTheRegionHasIt) {
  sources_[kTest] = {"/src/pool_test.cpp", 12};
  Free(Pool(1000));
  const WindowResult result = JudgeWindow();
  EXPECT_EQ(result.kind, WindowKind::kTest);
  EXPECT_EQ(result.name, kTest);
  EXPECT_EQ(result.source_file, "/src/pool_test.cpp");
  EXPECT_EQ(result.source_line, 12);
  EXPECT_EQ(result.allocated, (Amount{1000, 1}));
}

TEST_F(WindowJudgeTest, PassesAtALimitAndFailsBeyondIt) {
  LimitTests(R"("outstanding": {"blocks": 1, "bytes": 64})");
  Pool(64);
  EXPECT_EQ(JudgeWindow().verdict, Verdict::kPass);
  Pool(64);
  const WindowResult over = JudgeWindow();
  EXPECT_EQ(over.verdict, Verdict::kOverBudget);
  EXPECT_EQ(over.budget->component, "pool");
  EXPECT_EQ(over.outstanding, (Amount{128, 2}));
  EXPECT_THAT(over.violations, ElementsAre(Exceeds(Metric::kOutstandingBytes, 128, 64),
                                           Exceeds(Metric::kOutstandingBlocks, 2, 1)));
}

TEST_F(WindowJudgeTest, GroupsWhatIsOutstandingByCallSite) {
  LimitTests(R"("outstanding": {"blocks": 9})");
  for (int i = 0; i < 3; ++i) Pool(64);
  Cache(1000);
  const WindowResult result = JudgeWindow();
  ASSERT_THAT(result.findings, SizeIs(2));
  EXPECT_EQ(result.findings[0].amount, (Amount{1000, 1}));  // most bytes first
  EXPECT_EQ(result.findings[1].amount, (Amount{192, 3}));
  ASSERT_TRUE(result.findings[1].user_frame);
  EXPECT_THAT(result.findings[1].stack[*result.findings[1].user_frame].function,
              HasSubstr("judged_code::GrowPool"));
}

TEST_F(WindowJudgeTest, LeavesToEachWindowItsOwnBlocks) {
  LimitTests(R"("outstanding": {"blocks": 0})");
  const std::uint32_t inner =
      agent::OpenWindow({.kind = WindowKind::kTest, .name = "PoolTest.Inner", .file = {}});
  agent::SetCurrentWindow(inner);
  Pool(64);
  LeaveWindow(inner);
  EXPECT_EQ(JudgeWindow().verdict, Verdict::kPass);
  EXPECT_EQ(Judge().Judge(Reader().Window(inner), {}).verdict, Verdict::kOverBudget);
}

TEST_F(WindowJudgeTest, CannotConfirmWithoutALimitWhatItCannotTellLostFromRetained) {
  Pool(64);
  const WindowResult result = JudgeWindow();
  EXPECT_EQ(result.verdict, Verdict::kUnconfirmed);
  EXPECT_EQ(result.outstanding, (Amount{64, 1}));
  EXPECT_EQ(result.lost, Amount{});
}

TEST_F(WindowJudgeTest, SaysWhyItCouldNotTellWhatIsLost) {
  Pool(64);
  const WindowResult result = JudgeWindow(agent::CurrentPid());  // of a process that has gone
  EXPECT_NE(result.reach_problem, "");
  EXPECT_EQ(result.lost, Amount{});
}

TEST_F(WindowJudgeTest, AsksForNoReachWhereALimitOnOutstandingIsTheWholeOfIt) {
  LimitTests(R"("outstanding": {"blocks": 9})");
  Pool(64);
  const WindowResult result = JudgeWindow(agent::CurrentPid());
  EXPECT_EQ(result.reach_problem, "");
  EXPECT_EQ(result.verdict, Verdict::kPass);
}

TEST_F(WindowJudgeTest, HoldsGrowthAgainstItsLimitWhicheverBlocksWereFreed) {
  LimitTests(R"("growth": {"blocks": 1}, "outstanding": {"blocks": 9})");
  LeaveWindow(window_);
  const std::uint64_t earlier = Pool(64);
  agent::SetCurrentWindow(window_);
  next_ = earlier + kStep;
  SetUp();
  agent::SetCurrentWindow(window_);
  Pool(64);
  Pool(64);
  agent::RecordFree(At(earlier), {FreeKind::kFree, LEAKGATE_CALLER_FRAME()});
  const WindowResult result = JudgeWindow();
  EXPECT_EQ(result.growth, (Amount{64, 1}));
  EXPECT_EQ(result.outstanding, (Amount{128, 2}));
  EXPECT_EQ(result.verdict, Verdict::kPass);
  Pool(64);
  EXPECT_THAT(JudgeWindow().violations, ElementsAre(Exceeds(Metric::kGrowthBlocks, 2, 1)));
}

TEST_F(WindowJudgeTest, CountsTheFrameworksOwnApart) {
  LimitTests(R"("outstanding": {"blocks": 0})");
  testing::internal::UnitTestImpl::RecordProperty(next_, 64);
  next_ += kStep;
  const WindowResult result = JudgeWindow();
  EXPECT_EQ(result.verdict, Verdict::kPass);
  EXPECT_EQ(result.framework, (Amount{64, 1}));
  EXPECT_EQ(result.outstanding, Amount{});
  EXPECT_EQ(result.growth, Amount{});
  ASSERT_THAT(result.findings, SizeIs(1));
  EXPECT_EQ(result.findings[0].framework_rule, "gtest.properties");
}

TEST_F(WindowJudgeTest, AllowsWhatABudgetFileAllowsByItsStack) {
  AddBudget("pool", R"("limits": {"test": {"outstanding": {"blocks": 0}}},
      "allowances": [{"stack": ["judged_code::FillCache"], "blocks": 1, "reason": "warm"}])");
  Cache(64);
  const WindowResult allowed = JudgeWindow();
  EXPECT_EQ(allowed.verdict, Verdict::kPass);
  EXPECT_EQ(allowed.allowed, (Amount{64, 1}));
  EXPECT_THAT(allowed.findings.at(0).allowance, HasSubstr("pool.leakgate.json:"));
}

TEST_F(WindowJudgeTest, AllowsNothingOfWhatIsMoreThanAnAllowancePermits) {
  AddBudget("pool", R"("limits": {"test": {"outstanding": {"blocks": 0}}},
      "allowances": [{"stack": ["judged_code::FillCache"], "blocks": 1, "reason": "warm"}])");
  Cache(64);
  Cache(64);
  const WindowResult result = JudgeWindow();
  EXPECT_EQ(result.allowed, Amount{});
  EXPECT_THAT(result.violations, ElementsAre(Exceeds(Metric::kOutstandingBlocks, 2, 0)));
}

TEST_F(WindowJudgeTest, AllowsWhatTheCodeAllowsWhileItAllocates) {
  LimitTests(R"("outstanding": {"blocks": 0})");
  std::uint32_t before = 0;
  ASSERT_TRUE(agent::CanRecord());
  {
    const agent::RecordingGuard guard;
    before = agent::BeginAllowance(
        guard, {.reason = "a cache", .file = "c.cpp", .line = 7, .bytes = -1, .blocks = -1});
  }
  Cache(64);
  {
    const agent::RecordingGuard guard;
    agent::RestoreAllowance(guard, before);
  }
  EXPECT_EQ(JudgeWindow().verdict, Verdict::kPass);
  Cache(64);
  const WindowResult result = JudgeWindow();
  EXPECT_EQ(result.allowed, (Amount{64, 1}));
  EXPECT_THAT(result.violations, ElementsAre(Exceeds(Metric::kOutstandingBlocks, 1, 0)));
}

TEST_F(WindowJudgeTest, AllowsWhatTheTestExpectsToLeaveAndNoMore) {
  LimitTests(R"("outstanding": {"blocks": 0})");
  ASSERT_TRUE(agent::CanRecord());
  {
    const agent::RecordingGuard guard;
    agent::ExpectOutstanding(
        guard, {.reason = "handed on", .file = "p.cpp", .line = 3, .bytes = -1, .blocks = 1});
  }
  Pool(64);
  EXPECT_EQ(JudgeWindow().verdict, Verdict::kPass);
  Pool(64);
  EXPECT_EQ(JudgeWindow().verdict, Verdict::kOverBudget);
}

TEST_F(WindowJudgeTest, ChargesTheComponentWhoseCodeAllocated) {
  AddBudget("tests",
            R"("tests": ["PoolTest.*"], "limits": {"test": {"outstanding": {"blocks": 1}}})");
  AddBudget("cache", R"("code": {"functions": ["judged_code::FillCache"]},
                        "limits": {"test": {"outstanding": {"blocks": 0}}})");
  Pool(64);
  EXPECT_EQ(JudgeWindow().verdict, Verdict::kPass);
  Cache(64);
  const WindowResult result = JudgeWindow();
  EXPECT_EQ(result.budget->component, "tests");
  ASSERT_THAT(result.code_budgets, SizeIs(1));
  EXPECT_EQ(result.code_budgets[0]->component, "cache");
  ASSERT_THAT(result.violations, ElementsAre(Exceeds(Metric::kOutstandingBlocks, 1, 0)));
  EXPECT_EQ(result.violations[0].component, "cache");
}

TEST_F(WindowJudgeTest, FailsForNothingThatTheBaselineHas) {
  Pool(64);
  const std::vector<Frame> stack = JudgeWindow().findings.at(0).stack;
  BaselineWindows windows;
  windows[WindowIdentity(WindowKind::kTest, kTest)].blocks[SymbolicPath(stack)] = 1;
  const Baseline baseline = MakeBaseline("baseline.json", std::move(windows));
  judge_.reset();
  baseline_ = &baseline;
  const WindowResult known = JudgeWindow();
  EXPECT_EQ(known.verdict, Verdict::kPass);
  EXPECT_EQ(known.known, (Amount{64, 1}));
  EXPECT_EQ(known.findings.at(0).baseline, BaselineState::kKnown);
  Cache(64);
  EXPECT_EQ(JudgeWindow().verdict, Verdict::kUnconfirmed);
}

TEST_F(WindowJudgeTest, FailsForAMismatchedFree) {
  const std::uint64_t block = Pool(40);
  const std::uint32_t stack = Reader().LiveBlocks(window_).value().at(0).stack;
  agent::NoteFreeError({.kind = static_cast<std::uint32_t>(FreeErrorKind::kMismatched),
                        .free_kind = static_cast<std::uint32_t>(FreeKind::kDelete),
                        .window = window_,
                        .thread = 1,
                        .free_stack = stack,
                        .allocation_stack = stack,
                        .allocation_kind = static_cast<std::uint32_t>(AllocationKind::kMalloc),
                        .reserved = 0,
                        .address = block,
                        .size_bytes = 40});
  Free(block);
  const WindowResult result = Judge().JudgeWithoutBlocks(Reader().Window(window_));
  EXPECT_EQ(result.verdict, Verdict::kOverBudget);
  ASSERT_THAT(result.free_errors, SizeIs(1));
  EXPECT_EQ(result.free_errors[0].text, "40 B allocated by malloc and freed by delete");
}

TEST_F(WindowJudgeTest, HoldsMappingsAgainstTheirOwnLimit) {
  LimitTests(R"("mapped": {"bytes": 4096})");
  Pool(64);
  const std::uint32_t stack = Reader().LiveBlocks(window_).value().at(0).stack;
  ASSERT_TRUE(agent::CanRecord());
  {
    const agent::RecordingGuard guard;
    agent::g_mappings.Add({0x1200'0000'0000, 0x1200'0000'2000},
                          {stack, agent::ContextNow(guard), 1}, {AllocationKind::kMapped, 3});
  }
  const WindowResult result = JudgeWindow();
  EXPECT_EQ(result.mapped, (Amount{8192, 1}));
  EXPECT_THAT(result.violations, ElementsAre(Exceeds(Metric::kMappedBytes, 8192, 4096)));
}

TEST_F(WindowJudgeTest, NamesTheFilesThatATestLeavesOpenWhereABudgetAsks) {
  LimitTests(R"("file_descriptors": 0)");
  pid_ = agent::CurrentPid();
  EXPECT_NE(Judge().Questions() & kAskAtTestBegin, 0U);
  Judge().NoteTestBegin(window_);
  const int left = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const WindowResult result = JudgeWindow();
  ::close(left);
  EXPECT_EQ(result.file_descriptors, 1);
  EXPECT_THAT(result.left_behind, Contains(HasSubstr("/dev/null")));
  EXPECT_THAT(result.violations, ElementsAre(Exceeds(Metric::kFileDescriptors, 1, 0)));
}

TEST_F(WindowJudgeTest, WaitsForASuitesTearDownWhereABudgetSaysSo) {
  AddBudget("pool", R"("free_by": "suite", "limits": {"test": {"outstanding": {"blocks": 0}}})");
  EXPECT_NE(Judge().Questions() & kAskAtSuiteEnd, 0U);
  const std::uint64_t block = Pool(64);
  WindowResults results;
  results.Put(window_, JudgeWindow());
  EXPECT_EQ(results.Find(window_)->verdict, Verdict::kUnconfirmed);
  Free(block);
  Judge().EndSuite(Reader().Window(window_).parent, results);
  EXPECT_EQ(results.Find(window_)->verdict, Verdict::kPass);
  EXPECT_EQ(results.Find(window_)->findings.at(0).disposition, Disposition::kReleasedLater);
}

TEST_F(WindowJudgeTest, FailsWhatASuitesTearDownHasNotFreed) {
  AddBudget("pool", R"("free_by": "suite", "limits": {"test": {"outstanding": {"blocks": 0}}})");
  Pool(64);
  WindowResults results;
  results.Put(window_, JudgeWindow());
  Judge().EndSuite(Reader().Window(window_).parent, results);
  EXPECT_EQ(results.Find(window_)->verdict, Verdict::kOverBudget);
}

TEST_F(WindowJudgeTest, FailsAtTheProgramsEndWhatWasToBeFreedUntilThen) {
  AddBudget("pool", R"("free_by": "program", "limits": {"test": {"outstanding": {"blocks": 0}}})");
  Pool(64);
  WindowResults results;
  results.Put(window_, JudgeWindow());
  Judge().EndSuite(Reader().Window(window_).parent, results);
  EXPECT_EQ(results.Find(window_)->verdict, Verdict::kUnconfirmed);
  Judge().EndProgram(results);
  EXPECT_EQ(results.Find(window_)->verdict, Verdict::kOverBudget);
}

TEST(WindowResultsTest, GivesTheResultsOfTheWindowsThatAreAskedForInThatOrder) {
  WindowResults results;
  for (const std::uint32_t id : {7U, 3U, 9U, 1U, 4U}) {
    WindowResult result;
    result.name = std::to_string(id);
    results.Put(id, std::move(result));
  }
  WindowResult anew;
  anew.name = "4 anew";
  results.Put(4, std::move(anew));
  EXPECT_EQ(results.Find(2), nullptr);
  std::vector<std::string> names;
  for (const WindowResult& result : std::move(results).Take({1, 3, 4, 9}))
    names.push_back(result.name);
  EXPECT_THAT(names, ElementsAre("1", "3", "4 anew", "9"));
}

TEST_F(WindowJudgeTest, IsInconclusiveForTheReasonThatAWindowIsNotLookedAt) {
  const WindowResult result =
      Judge().MakeInconclusive(Reader().Window(window_), "too many were open");
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_EQ(result.reason, "too many were open");
}

TEST_F(WindowJudgeTest, NamesAChildByItsImageAndTheTestThatStartedIt) {
  ChildProcess child = ServerOf(kTest);
  child.iteration = 2;
  OpenWindowOf(child);
  const WindowResult result = JudgeWindow();
  EXPECT_EQ(Judge().Questions(), kAskAtProcessEnd | kHasNoTests);
  EXPECT_EQ(result.kind, WindowKind::kProcess);
  EXPECT_EQ(result.name, "server");
  EXPECT_EQ(result.started_by, kTest);
  EXPECT_EQ(result.iteration, 2);
}

TEST_F(WindowJudgeTest, IsInconclusiveForAChildWhoseEndWasNotSeen) {
  const ChildProcess child = ServerOf(kTest);
  OpenWindowOf(child);
  Pool(64);
  const WindowResult result = JudgeWindow();
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_THAT(result.reason, HasSubstr("what it lost could not be told: it was killed"));
}

TEST_F(WindowJudgeTest, DoesNotGateAChildThatExecutedAnotherProgram) {
  ChildProcess child = ServerOf(kTest);
  child.has_executed = true;
  OpenWindowOf(child);
  Pool(64);
  const WindowResult result = JudgeWindow();
  EXPECT_EQ(result.verdict, Verdict::kNotGated);
  EXPECT_THAT(result.reason, HasSubstr("it executed another program in its place"));
}

TEST_F(WindowJudgeTest, JudgesAChildByAnOutstandingLimitHoweverItEnded) {
  AddBudget("pool", R"("processes": ["server"],
                       "limits": {"process": {"outstanding": {"blocks": 1}}})");
  const ChildProcess child = ServerOf(kTest);
  OpenWindowOf(child);
  Pool(64);
  EXPECT_EQ(JudgeWindow().verdict, Verdict::kPass);
  Pool(64);
  EXPECT_EQ(JudgeWindow().verdict, Verdict::kOverBudget);
}

}  // namespace
}  // namespace leakgate::test
