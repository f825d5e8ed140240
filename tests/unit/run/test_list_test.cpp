#include <gmock/gmock.h>

#include "runner/run/test_listing.h"

namespace leakgate {
namespace {

using testing::IsEmpty;

TEST(ParseTestListTest, ReadsNamesFilesAndLines) {
  const TestSources tests = ParseTestList(R"({"tests": 2, "testsuites": [
    {"name": "HttpTest", "testsuite": [
      {"name": "Get", "file": "src/http_test.cc", "line": 12},
      {"name": "Put/0", "value_param": "1", "file": "src/http_test.cc", "line": 20}]}]})");
  ASSERT_EQ(tests.size(), 2);
  EXPECT_EQ(tests.at("HttpTest.Get").file, "src/http_test.cc");
  EXPECT_EQ(tests.at("HttpTest.Get").line, 12);
  EXPECT_EQ(tests.at("HttpTest.Put/0").line, 20);
}

TEST(ParseTestListTest, KeepsATestWithoutAFile) {
  const TestSources tests =
      ParseTestList(R"({"testsuites": [{"name": "S", "testsuite": [{"name": "T"}]}]})");
  EXPECT_EQ(tests.at("S.T").file, "");
  EXPECT_EQ(tests.at("S.T").line, 0);
}

TEST(ParseTestListTest, ReadsSuitesWhoseNamesFollowTheirTests) {
  const TestSources tests = ParseTestList(R"({"name": "AllTests", "testsuites": [
    {"testsuite": [{"line": 7, "name": "T"}], "tests": 1, "name": "S"},
    {"more": [{"name": "None"}], "testsuite": [], "name": "Empty"},
    {"name": "R", "testsuite": [{"name": "T", "more": [{"name": "Inner"}]}]}],
    "others": [{"name": "X", "testsuite": [{"name": "Y"}]}]})");
  ASSERT_EQ(tests.size(), 2);
  EXPECT_EQ(tests.at("S.T").line, 7);
  EXPECT_EQ(tests.count("R.T"), 1);
}

class NoTestListTest : public testing::TestWithParam<const char*> {};

TEST_P(NoTestListTest, IsEmpty) { EXPECT_THAT(ParseTestList(GetParam()), IsEmpty()); }

INSTANTIATE_TEST_SUITE_P(, NoTestListTest,
                         testing::Values("", "usage: net_test", "{", "[1]", "{}",
                                         R"({"testsuites": {}})", R"({"testsuites": [1]})",
                                         R"({"testsuites": [{"name": 1, "testsuite": "x"}]})"));

TEST(ParseTestListTest, GivesNoTestASuitesNameThatIsLongerThanAnyIs) {
  const auto list = [](std::size_t length) {
    return R"({"testsuites": [{"name": ")" + std::string(length, 'n') +
           R"(", "testsuite": [{"name": "t"}]}]})";
  };
  EXPECT_EQ(ParseTestList(list(4096)).size(), 1u);
  EXPECT_THAT(ParseTestList(list(4097)), IsEmpty());
}

}  // namespace
}  // namespace leakgate
