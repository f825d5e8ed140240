#include "runner/attribution/suppressions.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/unit/attribution/frames.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The symbols of the functions in these tests.
std::vector<std::string> SymbolsOf(const Frame& frame) {
  if (frame.function != "net::Cache::Add(int)") return {};
  return {"_ZN3net5Cache3AddEi", "add_to_cache"};
}

Suppressions Of(const std::string& text) {
  auto parsed = ParseSuppressions("a.supp", text);
  if (!parsed) ADD_FAILURE() << parsed.error().message;
  return {parsed.value_or(std::vector<Suppression>()), SymbolsOf};
}
Suppressions OfValgrind(const std::string& frames) {
  return Of("{\n a\n Memcheck:Leak\n " + frames + "\n}\n");
}

// Lost by main -> net::Run -> net::Cache::Add (cache.cc:12), which has `innermost` inlined.
Finding Lost(const std::string& innermost = "net::Grow") {
  Finding finding;
  Frame inlined = At("/src/net/cache.cc", innermost, 7);
  inlined.inlined = true;
  finding.stack = {inlined, At("/src/net/cache.cc", "net::Cache::Add(int)", 12),
                   InModule("/opt/lib/libnet.so.1", "net::Run()"), In("main")};
  finding.user_frame = 0;
  finding.kind = AllocationKind::kNew;
  finding.reach = Reach::kLost;
  return finding;
}

bool IsCovered(Suppressions suppressions, const Finding& finding = Lost()) {
  return !suppressions.ReasonFor(finding).empty();
}

TEST(LeakPatternTest, MatchesAnywhereUnlessItIsAnchored) {
  EXPECT_TRUE(MatchesLeakPattern("Cache", "net::Cache::Add(int)"));
  EXPECT_TRUE(MatchesLeakPattern("net*Add", "net::Cache::Add(int)"));
  EXPECT_TRUE(MatchesLeakPattern("^net::", "net::Cache::Add(int)"));
  EXPECT_TRUE(MatchesLeakPattern("(int)$", "net::Cache::Add(int)"));
  EXPECT_FALSE(MatchesLeakPattern("^Cache", "net::Cache::Add(int)"));
  EXPECT_FALSE(MatchesLeakPattern("Cache$", "net::Cache::Add(int)"));
  EXPECT_FALSE(MatchesLeakPattern("Add*net", "net::Cache::Add(int)"));
  EXPECT_FALSE(MatchesLeakPattern("", ""));
}

TEST(SuppressionsTest, LeakSanitizersMatchFunctionFileOrModuleOfAnyFrame) {
  for (const char* const pattern :
       {"leak:net::Run", "leak:net/cache.cc", "leak:libnet.so", "leak:^net::Cache::Add$",
        "leak:^operator new", "leak:_ZN3net5Cache"}) {
    EXPECT_TRUE(IsCovered(Of(pattern))) << pattern;
  }
  EXPECT_FALSE(IsCovered(Of("leak:disk::")));
}

TEST(SuppressionsTest, ValgrindsMatchTheInnermostFramesInOrder) {
  for (const char* const frames :
       {"fun:_Znwm\n fun:_ZN3net5Cache3AddEi", "fun:*\n fun:_ZN3net?Cache*\n obj:*/libnet.so*",
        "fun:_Znwm\n fun:net::Grow\n fun:_ZN3net5Cache3AddEi\n fun:net::Run", "...\n fun:main",
        "...\n fun:net::Run\n ...\n fun:main\n fun:(below main)", "fun:_ZN3net5Cache3AddEi",
        "obj:*vgpreload_memcheck*\n ...\n src:cache.cc:12", "...\n src:cache.cc", "...",
        "fun:_Znwm\n fun:add_to_cache"}) {
    EXPECT_TRUE(IsCovered(OfValgrind(frames))) << frames;
  }
  for (const char* const frames :
       {"fun:malloc\n fun:_ZN3net5Cache3AddEi", "fun:_Znwm\n fun:net::Run", "fun:main",
        "...\n fun:main\n fun:net::Run", "...\n src:cache.cc:13", "...\n obj:*/libdisk.so",
        "...\n fun:main\n fun:start"}) {
    EXPECT_FALSE(IsCovered(OfValgrind(frames))) << frames;
  }
}

TEST(SuppressionsTest, AMangledNameMatchesWhereNoSymbolIsKnown) {
  EXPECT_TRUE(IsCovered(OfValgrind("fun:_Znwm\n fun:_ZN3net4GrowEi"), Lost("net::Grow(int)")));
}

TEST(SuppressionsTest, ValgrindsKindsAreThoseOfTheirReach) {
  const auto of_kind = [](const std::string& kind) {
    return OfValgrind("match-leak-kinds: " + kind + "\n ...\n fun:main");
  };
  Finding finding = Lost();
  EXPECT_TRUE(IsCovered(of_kind("definite"), finding));
  EXPECT_FALSE(IsCovered(of_kind("reachable"), finding));
  EXPECT_FALSE(IsCovered(of_kind("none"), finding));
  finding.reach = Reach::kRetained;
  EXPECT_TRUE(IsCovered(of_kind("reachable"), finding));
  EXPECT_FALSE(IsCovered(of_kind("definite,indirect"), finding));
  finding.reach = Reach::kIndirectlyLost;
  EXPECT_TRUE(IsCovered(of_kind("indirect"), finding));
}

TEST(SuppressionsTest, TheFirstGivesItsReasonAndThoseThatMatchNothingAreTold) {
  Suppressions suppressions = Of("leak:disk\nleak:net::Run\nleak:net::\nrace:net\n");
  EXPECT_EQ(suppressions.ReasonFor(Lost()), "a.supp:2 (leak:net::Run)");
  EXPECT_THAT(suppressions.Unused(),
              ElementsAre("a.supp:1 (leak:disk) is not taken over: it matches nothing that fails",
                          "a.supp:4 (race:net) is not taken over: 'race' is of another "
                          "sanitizer's"));
  EXPECT_THAT(Suppressions({}, SymbolsOf).Unused(), IsEmpty());
}

TEST(SuppressionsTest, PatternsOfManyWildcardsTakeNoTime) {
  Finding deep = Lost();
  deep.stack = std::vector<Frame>(1000, In(std::string(2000, 'a')));
  std::string any_frames;
  for (int i = 0; i < 1000; ++i) any_frames += "...\n fun:a*\n ";
  EXPECT_FALSE(IsCovered(OfValgrind(any_frames + "fun:b"), deep));
  std::string stars;
  for (int i = 0; i < 1000; ++i) stars += "a*";
  EXPECT_FALSE(IsCovered(Of("leak:" + stars + "b"), deep));
}

}  // namespace
}  // namespace leakgate
