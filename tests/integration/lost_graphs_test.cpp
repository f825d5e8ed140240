// What only a lost block led to is told with that block, and allowed with it.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/integration/both_modes.h"
#include "tests/integration/findings.h"

namespace leakgate::test {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::vector<json> LostFindings(const json& window) {
  std::vector<json> lost;
  for (const json& finding : UsersFindings(window)) {
    if (finding.value("reach", "") != "retained") lost.push_back(finding);
  }
  return lost;
}

std::vector<std::string> FunctionsOf(const std::vector<json>& findings) {
  std::vector<std::string> functions;
  for (const json& finding : findings) functions.push_back(LeakFrom(finding).function);
  return functions;
}

long BlocksLedTo(const json& finding) {
  long blocks = 0;
  for (const json& led : finding.value("led_to", json::array()))
    blocks += led["blocks"].get<long>();
  return blocks;
}

class LostGraphsTest : public BothModes {
 protected:
  static const GatedRun& Run() { return SharedRunByDefault({Fixture("lost_graphs")}); }
  static json Window(const std::string& test) { return Run().Test(test); }
  // The only lost finding of the test.
  static json Root(const std::string& test) {
    const std::vector<json> lost = LostFindings(Window(test));
    EXPECT_EQ(lost.size(), 1) << Window(test);
    return lost.empty() ? json::object() : lost.front();
  }
};

TEST_P(LostGraphsTest, OneRootHasAllThatItLedTo) {
  const json tree = Root("LostGraph.OfATreeWhoseNodesKnowTheirParents");
  EXPECT_EQ(tree["blocks"], 62);  // 31 nodes with a text each
  EXPECT_EQ(BlocksLedTo(tree), 61);
  EXPECT_EQ(LeakFrom(tree).place, PlaceOf("lost_graphs.cpp", "tree"));

  const json map = Root("LostGraph.OfAMapOfLists");
  EXPECT_EQ(map["blocks"], 1 + 8 + 40 + 40);
  EXPECT_EQ(LeakFrom(map).place, PlaceOf("lost_graphs.cpp", "map"));

  const json owner = Root("LostGraph.OfAnOwnerAndWhatOthersMade");
  EXPECT_EQ(owner["blocks"], 6);
  EXPECT_EQ(FunctionsOf({owner}), std::vector<std::string>{"(anonymous namespace)::MakeOwner()"});
}

TEST_P(LostGraphsTest, OfACycleTheFirstThatWasMadeIsTheRoot) {
  const json cycle = Root("LostGraph.OfACycle");
  EXPECT_EQ(cycle["blocks"], 4);
  EXPECT_EQ(BlocksLedTo(cycle), 3);
  EXPECT_EQ(LeakFrom(cycle).place, PlaceOf("lost_graphs.cpp", "cycle"));
}

TEST_P(LostGraphsTest, TwoRootsAreTwo) {
  for (const char* const test : {"LostGraph.OfTwo", "LostGraph.OfTwoOwnersOfOneNode"}) {
    EXPECT_THAT(FunctionsOf(LostFindings(Window(test))),
                UnorderedElementsAre("(anonymous namespace)::MakeOwner()",
                                     "(anonymous namespace)::MakeOther()"))
        << Window(test);
  }
}

TEST_P(LostGraphsTest, WhatAVariableHoldsIsACauseOfItsOwn) {
  const json window = Window("LostGraph.BesideWhatAVariableHolds");
  EXPECT_EQ(window["lost"]["blocks"], 2) << window;  // the owner and its text
  std::vector<std::string> holders;
  for (const json& finding : UsersFindings(window)) {
    if (finding["disposition"] == "steady") holders.push_back(finding.value("holder", ""));
  }
  EXPECT_THAT(holders, Contains(HasSubstr("held"))) << window;
}

TEST_P(LostGraphsTest, SaysByWhichWayABlockIsLost) {
  const json owner = Root("LostGraph.OfAnOwnerAndWhatOthersMade");
  std::vector<std::string> ways;
  for (const json& led : owner["led_to"]) ways.push_back(led.value("holder", ""));
  EXPECT_THAT(ways, Each(HasSubstr("MakeOwner")));
  EXPECT_THAT(ways, Contains(HasSubstr(" -> ")));
}

TEST_P(LostGraphsTest, ABlockOfAnotherWindowIsNoPartOfTheFinding) {
  const json root = Root("LostWithItsSuite.Left");
  EXPECT_EQ(LeakFrom(root).function, "(anonymous namespace)::MakeOwned()");
}

// The suite lost the owner. It is the one cause, the one result and the one annotation.
TEST_P(LostGraphsTest, WhatTestsGaveToAnOwnerOfTheSuitesIsOfOneCause) {
  const TemporaryDirectory directory;
  const std::string sarif = directory.File("r.sarif");
  const std::string report = directory.File("r.json");
  const GatedRun run = RunByDefault({Fixture("lost_graphs"), "--gtest_filter=LostWithItsSuite.*"},
                                    {"--report", "sarif=" + sarif, "--report", "json=" + report});
  EXPECT_THAT(run.command.standard_error, HasSubstr("1 cause"));
  EXPECT_THAT(
      run.command.standard_error,
      HasSubstr("in 4 blocks of that could be reached only through what suite LostWithItsSuite"));
  EXPECT_THAT(json::parse(ReadFile(sarif))["runs"][0]["results"], testing::SizeIs(1));

  const CommandResult merged = Leakgate({"merge", report});
  EXPECT_THAT(merged.standard_error,
              HasSubstr("could be reached only through what suite LostWith"));
}

TEST_P(LostGraphsTest, AllAmountsAreOfTheWhole) {
  const json window = Window("LostGraph.OfATreeWhoseNodesKnowTheirParents");
  EXPECT_EQ(window["lost"]["blocks"], 62);
  EXPECT_EQ(window["outstanding"]["blocks"], 62);
  EXPECT_THAT(Run().command.standard_error, HasSubstr("61 blocks that only it led to"));
}

// The entry names the function that made the root. Others have made what it led to.
TEST_P(LostGraphsTest, AnAllowanceOfTheRootCoversAllThatItLedTo) {
  const TemporaryDirectory directory;
  const std::string test = "LostGraph.OfAnOwnerAndWhatOthersMade";
  const auto run_with = [&](int blocks) {
    const std::string file = directory.Write(
        "a.leakgate.json",
        R"({ "component": "a", "allowances": [{ "stack": ["*::MakeOwner"], "blocks": )" +
            std::to_string(blocks) + R"(, "reason": "known" }] })");
    return RunByDefault({Fixture("lost_graphs"), "--gtest_filter=" + test}, {"--budgets", file});
  };
  const GatedRun enough = run_with(6);
  EXPECT_EQ(enough.Test(test)["verdict"], "pass") << enough.Test(test);
  EXPECT_EQ(enough.Test(test)["allowed"]["blocks"], 6);

  const GatedRun less = run_with(5);
  EXPECT_EQ(less.Test(test)["verdict"], "over_budget");
  EXPECT_THAT(less.command.standard_error, HasSubstr("permits: 5 blocks for 360 B in 6 blocks"));
}

TEST_P(LostGraphsTest, WhatGrowsWithItsOwnerIsOneFinding) {
  std::vector<json> growing;
  for (const json& finding : UsersFindings(Window("GrowingGraph.OfACache"))) {
    if (finding["disposition"] == "steady") growing.push_back(finding);
  }
  ASSERT_EQ(growing.size(), 1) << Window("GrowingGraph.OfACache");
  EXPECT_EQ(growing[0]["blocks"], 2);  // a node and its text
  EXPECT_EQ(BlocksLedTo(growing[0]), 1);
}

// All entries that were printed, by leakgate or by the listener, as a user would paste them.
json PrintedAllowances(const std::string& text) {
  json allowances = json::array();
  const std::string before = "in a new NAME.leakgate.json: ";
  for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
    at += before.size();
    const json file = json::parse(text.substr(at, text.find('\n', at) - at));
    for (const json& entry : file["allowances"]) {
      const bool is_new =
          std::find(allowances.begin(), allowances.end(), entry) == allowances.end();
      if (is_new) allowances.push_back(entry);
    }
  }
  return allowances;
}

TEST_P(LostGraphsTest, PrintedEntriesTurnTheRunGreen) {
  const GatedRun run = RunByDefault({Fixture("lost_graphs")}, {"--verbose"});
  const TemporaryDirectory directory;
  const json file = {
      {"component", "a"},
      {"allowances", PrintedAllowances(run.command.standard_output + run.command.standard_error)}};
  ASSERT_GT(file["allowances"].size(), 5) << run.command.standard_error;
  const std::string budget = directory.Write("a.leakgate.json", file.dump());
  const GatedRun green = RunByDefault({Fixture("lost_graphs")}, {"--budgets", budget});
  EXPECT_EQ(green.command.exit_code, 0) << file.dump(1) << green.command.standard_error;
}

LEAKGATE_IN_BOTH_MODES(LostGraphsTest);

}  // namespace
}  // namespace leakgate::test
