#include "runner/run/ctest_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leakgate {
namespace {

using testing::ElementsAre;

bool IsTestBinary(const std::string& program) { return program.ends_with("_test"); }

TEST(CtestListingTest, HasEachCommandOnceWithItsSurroundings) {
  const auto listing = ParseCtestListing(R"({"kind": "ctestInfo", "tests": [
      {"name": "a", "command": ["/b/net_test", "--gtest_filter=A.B", "--gtest_output=xml:a.xml"],
       "properties": [{"name": "WORKING_DIRECTORY", "value": "/b/work"},
                      {"name": "ENVIRONMENT", "value": ["X=1"]}]},
      {"name": "again", "command": ["/b/net_test"]},
      {"name": "and again", "command": ["/b/net_test"]},
      {"name": "script", "command": ["/usr/bin/python3", "x.py"]},
      {"name": "not built"}]})",
                                         IsTestBinary);

  ASSERT_TRUE(listing);
  EXPECT_THAT(listing->commands,
              ElementsAre(CtestCommand{"/b/net_test", {"--gtest_filter=A.B"}, "/b/work", {"X=1"}},
                          CtestCommand{"/b/net_test", {}, {}, {}}));
  EXPECT_EQ(listing->others, 2);
}

TEST(CtestListingTest, TakesTheProgramOutOfAGatedTest) {
  const auto listing = ParseCtestListing(
      R"({"tests": [{"command": ["/usr/bin/leakgate", "run", "--report", "json=a.json", "--",
                                 "/b/net_test", "--gtest_filter=A.B"]},
                    {"command": ["/usr/bin/leakgate", "merge", "results"]}]})",
      IsTestBinary);

  ASSERT_TRUE(listing);
  EXPECT_THAT(listing->commands,
              ElementsAre(CtestCommand{"/b/net_test", {"--gtest_filter=A.B"}, {}, {}}));
  EXPECT_EQ(listing->others, 1);
}

TEST(CtestListingTest, RefusesWhatIsNoListing) {
  for (const char* const text : {"", "[]", "{", "{\"tests\": 1}", "No tests were found!!!"}) {
    EXPECT_FALSE(ParseCtestListing(text, IsTestBinary)) << text;
  }
}

}  // namespace
}  // namespace leakgate
