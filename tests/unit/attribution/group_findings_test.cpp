#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "runner/attribution/call_sites.h"
#include "tests/unit/attribution/frames.h"

namespace leakgate {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Stacks = std::map<std::uint32_t, ResolvedStack>;

LiveBlock Block(std::uint32_t stack, std::uint64_t size_bytes,
                AllocationKind kind = AllocationKind::kNew) {
  LiveBlock block;
  block.stack = stack;
  block.size_bytes = size_bytes;
  block.kind = kind;
  return block;
}

ResolvedStack Resolved(std::vector<Frame> frames) { return {std::move(frames), {}}; }

std::vector<Finding> Group(const std::vector<LiveBlock>& blocks, const Stacks& stacks) {
  CallSites sites([&](std::uint32_t stack) { return stacks.at(stack); });
  return GroupFindings(blocks, {}, sites);
}

BlockFacts Held(Reach reach) {
  BlockFacts facts;
  facts.reach = reach;
  return facts;
}

BlockFacts Became(Disposition disposition) {
  BlockFacts facts;
  facts.disposition = disposition;
  return facts;
}

BlockFacts AllocatedBy(const std::string& thread) {
  BlockFacts facts;
  facts.thread = thread;
  return facts;
}

BlockFacts AllowedBy(const std::string& allowance) {
  BlockFacts facts;
  facts.allowance = allowance;
  return facts;
}

BlockFacts AllowedForAWorker() {
  BlockFacts facts;
  facts.reach = Reach::kRetained;
  facts.disposition = Disposition::kAllowed;
  facts.holder = "g_pool";
  facts.explanation = "the pool keeps one";
  facts.thread = "thread 'worker'";
  facts.allowance = "a.cc:1";
  return facts;
}

// Groups two blocks of one stack, of which different things may be known.
std::vector<Finding> GroupTwo(BlockFacts first, BlockFacts second) {
  CallSites sites([](std::uint32_t) { return Resolved({In("net::Grow()")}); });
  return GroupFindings({Block(1, 64), Block(1, 36)}, {std::move(first), std::move(second)}, sites);
}

auto Amounts(const auto&... amounts) {
  return ElementsAre(Field("amount", &Finding::amount, amounts)...);
}

TEST(GroupFindingsTest, FindsNothingWithoutBlocks) { EXPECT_THAT(Group({}, {}), IsEmpty()); }

TEST(GroupFindingsTest, AddsUpTheBlocksOfAStack) {
  const Stacks stacks = {{1, Resolved({In("net::Grow()")})}};

  EXPECT_THAT(Group({Block(1, 64), Block(1, 36)}, stacks), Amounts(Amount{100, 2}));
}

TEST(GroupFindingsTest, JoinsStacksThatReadTheSame) {
  Frame same = In("net::Grow()");
  same.module_offset = 0x1234;  // another call on the same line
  const Stacks stacks = {{1, Resolved({In("net::Grow()")})}, {2, Resolved({same})}};

  EXPECT_THAT(Group({Block(1, 64), Block(2, 36)}, stacks), Amounts(Amount{100, 2}));
}

TEST(GroupFindingsTest, KeepsUnknownFunctionsApartByTheirAddress) {
  Frame first = In("");
  first.module_offset = 1;
  Frame second = In("");
  second.module_offset = 2;

  EXPECT_THAT(
      Group({Block(1, 64), Block(2, 36)}, {{1, Resolved({first})}, {2, Resolved({second})}}),
      SizeIs(2));
}

TEST(GroupFindingsTest, KeepsKindsApart) {
  const Stacks stacks = {{1, Resolved({In("net::Grow()")})}};

  EXPECT_THAT(Group({Block(1, 64), Block(1, 36, AllocationKind::kMalloc)}, stacks), SizeIs(2));
}

TEST(GroupFindingsTest, KeepsAStackThatWasCutOffApart) {
  ResolvedStack cut = Resolved({In("net::Grow()")});
  cut.end = UnwindEnd::kDepthLimit;

  EXPECT_THAT(Group({Block(1, 64), Block(2, 36)}, {{1, Resolved({In("net::Grow()")})}, {2, cut}}),
              SizeIs(2));
}

TEST(GroupFindingsTest, ResolvesEachStackOnce) {
  const ResolvedStack stack = Resolved({In("net::Grow()")});
  int calls = 0;
  CallSites sites([&](std::uint32_t) {
    ++calls;
    return stack;
  });

  EXPECT_THAT(GroupFindings({Block(1, 8), Block(1, 8), Block(1, 8)}, {}, sites), SizeIs(1));
  EXPECT_EQ(calls, 1);
}

TEST(GroupFindingsTest, JoinsBlocksOfWhichTheSameIsKnown) {
  EXPECT_THAT(GroupTwo(AllowedForAWorker(), AllowedForAWorker()), Amounts(Amount{100, 2}));
}

TEST(GroupFindingsTest, KeepsLostAndRetainedApart) {
  EXPECT_THAT(GroupTwo(Held(Reach::kRetained), Held(Reach::kLost)), SizeIs(2));
}

TEST(GroupFindingsTest, KeepsApartWhatBecameOfTheBlocks) {
  EXPECT_THAT(GroupTwo({}, Became(Disposition::kReplaced)), SizeIs(2));
}

TEST(GroupFindingsTest, KeepsThreadsApart) {
  EXPECT_THAT(GroupTwo({}, AllocatedBy("thread 'worker'")), SizeIs(2));
}

TEST(GroupFindingsTest, KeepsAllowancesApart) {
  EXPECT_THAT(GroupTwo(AllowedBy("a.cc:1"), AllowedBy("a.cc:2")), SizeIs(2));
}

TEST(GroupFindingsTest, TellsWhatIsKnownOfTheBlocks) {
  const Finding finding = GroupTwo(AllowedForAWorker(), AllowedForAWorker()).front();

  EXPECT_EQ(finding.reach, Reach::kRetained);
  EXPECT_EQ(finding.disposition, Disposition::kAllowed);
  EXPECT_EQ(finding.holder, "g_pool");
  EXPECT_EQ(finding.explanation, "the pool keeps one");
  EXPECT_EQ(finding.thread, "thread 'worker'");
  EXPECT_EQ(finding.allowance, "a.cc:1");
}

TEST(GroupFindingsTest, PutsLostBeforeRetainedHoweverLittle) {
  EXPECT_THAT(GroupTwo(Held(Reach::kRetained), Held(Reach::kLost)),
              Amounts(Amount{36, 1}, Amount{64, 1}));
}

TEST(GroupFindingsTest, PutsWhatCountsBeforeWhatDoesNot) {
  EXPECT_THAT(GroupTwo(Became(Disposition::kAllowed), Became(Disposition::kUnconfirmed)),
              Amounts(Amount{36, 1}, Amount{64, 1}));
}

TEST(GroupFindingsTest, CallsTheFrameworksOwnSoWhateverElseIsKnown) {
  CallSites sites([](std::uint32_t) {
    return Resolved({InLibc(), Calling("net::Start()", "setenv")});
  });

  const std::vector<Finding> findings =
      GroupFindings({Block(1, 64)}, {Became(Disposition::kUnconfirmed)}, sites);

  EXPECT_EQ(findings.front().disposition, Disposition::kFramework);
}

TEST(GroupFindingsTest, NamesTheCallSite) {
  const Stacks stacks = {{1, Resolved({In("std::vector<int>::reserve()"), In("net::Grow()")})}};

  EXPECT_EQ(Group({Block(1, 64)}, stacks).front().user_frame, 1U);
}

TEST(GroupFindingsTest, DropsTheAgentsFrames) {
  const Stacks stacks = {{1, Resolved({InAgent(), InAgent(), In("net::Grow()")})}};

  EXPECT_THAT(Group({Block(1, 64)}, stacks).front().stack, ElementsAre(In("net::Grow()")));
}

TEST(GroupFindingsTest, NamesTheFrameworksRule) {
  const Stacks stacks = {{1, Resolved({InLibc(), Calling("net::Start()", "setenv")})}};

  EXPECT_EQ(Group({Block(1, 64)}, stacks).front().framework_rule, "libc.environment");
}

TEST(GroupFindingsTest, CallsMallocInTheProgramsOwnOperatorNewANew) {
  const Stacks stacks = {{1, Resolved({In("operator new(unsigned long)"), In("net::Grow()")})},
                         {2, Resolved({In("operator new[](unsigned long)"), In("net::Grow()")})}};

  EXPECT_THAT(
      Group({Block(1, 64, AllocationKind::kMalloc), Block(2, 36, AllocationKind::kMalloc)}, stacks),
      ElementsAre(Field(&Finding::kind, AllocationKind::kNew),
                  Field(&Finding::kind, AllocationKind::kNewArray)));
}

// The runtime's new[] calls the program's new; the agent forwards both calls.
TEST(GroupFindingsTest, NamesTheOutermostOfNestedOperators) {
  const Stacks stacks = {
      {1, Resolved({In("operator new(unsigned long)"), InAgent(),
                    In("operator new[](unsigned long)"), InAgent(), In("net::Grow()")})}};

  const Finding finding = Group({Block(1, 64, AllocationKind::kMalloc)}, stacks).front();

  EXPECT_EQ(finding.kind, AllocationKind::kNewArray);
}

TEST(GroupFindingsTest, DropsTheAgentsFramesBetweenOthers) {
  const Stacks stacks = {{1, Resolved({In("net::Pool()"), InAgent(), In("net::Grow()")})}};

  EXPECT_THAT(Group({Block(1, 64)}, stacks).front().stack,
              ElementsAre(In("net::Pool()"), In("net::Grow()")));
}

TEST(GroupFindingsTest, KeepsTheKindInAClasssOwnOperatorNew) {
  const Stacks stacks = {{1, Resolved({In("net::Pool::operator new(unsigned long)")})}};

  EXPECT_EQ(Group({Block(1, 64, AllocationKind::kMalloc)}, stacks).front().kind,
            AllocationKind::kMalloc);
}

TEST(GroupFindingsTest, PutsTheUsersOwnBeforeTheFrameworks) {
  const Stacks stacks = {{1, Resolved({InLibc(), Calling("net::Start()", "setenv")})},
                         {2, Resolved({In("net::Grow()")})}};

  EXPECT_THAT(Group({Block(1, 1000), Block(2, 8)}, stacks), Amounts(Amount{8, 1}, Amount{1000, 1}));
}

TEST(GroupFindingsTest, PutsMoreBytesFirstThenMoreBlocks) {
  const Stacks stacks = {
      {1, Resolved({In("A()")})}, {2, Resolved({In("B()")})}, {3, Resolved({In("C()")})}};

  EXPECT_THAT(Group({Block(1, 16), Block(2, 8), Block(2, 8), Block(3, 100)}, stacks),
              Amounts(Amount{100, 1}, Amount{16, 2}, Amount{16, 1}));
}

TEST(GroupFindingsTest, OrdersEqualAmountsByTheirStacks) {
  const Stacks stacks = {{1, Resolved({In("B()")})}, {2, Resolved({In("A()")})}};

  const std::vector<Finding> findings = Group({Block(1, 8), Block(2, 8)}, stacks);

  EXPECT_EQ(findings.front().stack.front().function, "A()");
}

// 10,000 call stacks are told; the smallest of the others are summed by what is judged alike.
std::vector<Finding> GroupMany(std::uint32_t stacks, const FoldKey& fold_key) {
  std::vector<LiveBlock> blocks;
  for (std::uint32_t stack = 0; stack < stacks; ++stack)
    blocks.push_back(Block(stack, 100 + stack));
  CallSites sites([](std::uint32_t stack) {
    return Resolved({In("net::Grow" + std::to_string(stack) + "()")});
  });
  sites.FoldBy(fold_key);
  const std::vector<BlockFacts> facts(blocks.size());
  sites.BeginWindow(blocks, facts);
  return GroupFindings(blocks, facts, sites);
}

TEST(GroupFindingsTest, CountsAllBlocksThatOneStandsFor) {
  CallSites sites([](std::uint32_t) { return Resolved({In("A()")}); });
  const std::vector<Finding> findings =
      GroupFindings({Block(1, 8), Block(1, 20)}, {{.blocks = 1000}, {.blocks = 1}}, sites);

  EXPECT_THAT(findings, Amounts(Amount{8020, 1001}));
}

TEST(GroupFindingsTest, SumsTheSmallestOfTooManyStacks) {
  const std::vector<Finding> findings = GroupMany(10'004, nullptr);
  ASSERT_THAT(findings, SizeIs(10'001));
  std::vector<Finding> shared;
  for (const Finding& finding : findings) {
    if (finding.other_stacks != 0) shared.push_back(finding);
  }
  ASSERT_THAT(shared, Amounts(Amount{100 + 101 + 102 + 103, 4}));
  EXPECT_EQ(shared[0].other_stacks, 3);
  EXPECT_EQ(shared[0].explanation,
            "one of 4 call stacks that are too many to show one by one, summed here");
}

TEST(GroupFindingsTest, SumsApartWhatBudgetsTellApart) {
  const auto is_odd = [](const Finding& finding) {
    const std::string& name = finding.stack.front().function;
    return std::string((name[name.find('(') - 1] - '0') % 2 != 0 ? "odd" : "even");
  };
  EXPECT_THAT(GroupMany(10'004, is_odd), SizeIs(10'002));
}

TEST(GroupFindingsTest, TellsAsManyAsThereMayBe) {
  EXPECT_THAT(GroupMany(10'000, nullptr), SizeIs(10'000));
}

// The block of stack 2 is lost with that of stack 1.
std::vector<Finding> GroupLost(BlockFacts root) {
  const Stacks stacks = {{1, Resolved({In("net::Open()")})},
                         {2, Resolved({In("net::Grow()")})},
                         {3, Resolved({In("net::Own()")})}};
  CallSites sites([&](std::uint32_t stack) { return stacks.at(stack); });
  BlockFacts led = Held(Reach::kIndirectlyLost);
  led.leading.address = 0x1000;
  led.leading.stack = 1;
  return GroupFindings({Block(1, 8), Block(2, 64)}, {std::move(root), std::move(led)}, sites);
}

TEST(FoldFindingsTest, TellsWhatIsLostWithABlockBelowIt) {
  std::vector<Finding> findings = GroupLost(Held(Reach::kLost));
  FoldFindings(Fold::kLost, findings);

  EXPECT_THAT(findings, Amounts(Amount{72, 2}));
  EXPECT_THAT(findings[0].led_to, Amounts(Amount{64, 1}));
  EXPECT_EQ(OwnAmount(findings[0]), (Amount{8, 1}));
}

// Both are lost with a block of another window: each says where it was allocated.
TEST(FoldFindingsTest, TellsWhatIsLostWithAnotherWindowBelowTheWindowsOwnRoot) {
  BlockFacts root = Held(Reach::kIndirectlyLost);
  root.leading.other_windows = 3;
  std::vector<Finding> findings = GroupLost(root);
  FoldFindings(Fold::kLost, findings);

  EXPECT_THAT(findings, Amounts(Amount{72, 2}));
  EXPECT_THAT(findings[0].led_to, Amounts(Amount{64, 1}));
  ASSERT_THAT(findings[0].led_from, SizeIs(1));
  EXPECT_EQ(findings[0].led_from.front().function, "net::Own()");
}

TEST(FoldFindingsTest, LeavesWhatIsChargedToAnotherComponent) {
  std::vector<Finding> findings = GroupLost(Held(Reach::kLost));
  findings[0].component = "net";
  FoldFindings(Fold::kLost, findings);

  EXPECT_THAT(findings, SizeIs(2));
}

TEST(FoldFindingsTest, LeavesWhatIsLostWithABlockThatDoesNotCount) {
  BlockFacts allowed = AllowedBy("a.cc:1");
  allowed.disposition = Disposition::kAllowed;
  std::vector<Finding> findings = GroupLost(allowed);
  FoldFindings(Fold::kLost, findings);

  EXPECT_THAT(findings, SizeIs(2));
}

}  // namespace
}  // namespace leakgate
