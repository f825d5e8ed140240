#include "runner/run/gtest_output.h"

#include <gmock/gmock.h>

#include "tests/support/processor_time.h"

namespace leakgate {
namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

std::string PathOf(const std::string& target) {
  const auto output = FindGtestOutput("build/net_test", {"--gtest_output=" + target}, {});
  return output ? output->path.string() : "none";
}

TEST(FindGtestOutputTest, FindsNoneWhereNoneIsAskedFor) {
  EXPECT_EQ(FindGtestOutput("a", {"--gtest_filter=A"}, {"PATH=/bin"}), std::nullopt);
}

TEST(FindGtestOutputTest, TakesTheArgument) { EXPECT_EQ(PathOf("xml:out.xml"), "out.xml"); }

TEST(FindGtestOutputTest, NamesADefaultFileByItsFormat) {
  EXPECT_EQ(PathOf("xml"), "test_detail.xml");
  EXPECT_EQ(PathOf("json"), "test_detail.json");
}

TEST(FindGtestOutputTest, NamesAFileInADirectoryAfterTheProgram) {
  EXPECT_EQ(PathOf("json:results/"), "results/net_test.json");
}

TEST(FindGtestOutputTest, KnowsNoOtherFormat) { EXPECT_EQ(PathOf("yaml:a"), "none"); }

TEST(FindGtestOutputTest, TakesTheLastOfSeveralArguments) {
  const auto output = FindGtestOutput("a", {"--gtest_output=xml:a", "--gtest_output=json:b"}, {});
  EXPECT_EQ(output->path, "b");
  EXPECT_EQ(output->format, GtestOutputFormat::kJson);
}

TEST(FindGtestOutputTest, PrefersTheArgumentToTheEnvironment) {
  const auto output = FindGtestOutput("a", {"--gtest_output=xml:a"}, {"GTEST_OUTPUT=xml:b"});
  EXPECT_EQ(output->path, "a");
}

TEST(FindGtestOutputTest, TakesBazelsVariable) {
  const auto output = FindGtestOutput("a", {}, {"XML_OUTPUT_FILE=/tmp/test.xml"});
  EXPECT_EQ(output->path, "/tmp/test.xml");
  EXPECT_EQ(output->format, GtestOutputFormat::kXml);
}

TEST(ParseGtestOutputTest, ReadsXml) {
  const std::string text = R"(<testsuites><testsuite name="S">
    <testcase name="Passes" status="run" result="completed"/>
    <testcase name="Skips" status="run" result="skipped"><skipped message="m"/></testcase>
    <testcase name="Fails" status="run" result="completed"><failure message="m"/></testcase>
    </testsuite></testsuites>)";
  EXPECT_THAT(ParseGtestOutput(GtestOutputFormat::kXml, text),
              UnorderedElementsAre(Pair("S.Passes", TestStatus::kPassed),
                                   Pair("S.Skips", TestStatus::kSkipped),
                                   Pair("S.Fails", TestStatus::kFailed)));
}

TEST(ParseGtestOutputTest, ReadsJson) {
  const std::string text = R"({"testsuites": [{"name": "S", "testsuite": [
    {"name": "Passes", "result": "COMPLETED"},
    {"name": "Skips", "result": "SKIPPED"},
    {"name": "Fails", "result": "COMPLETED", "failures": [{"failure": "m"}]}]}]})";
  EXPECT_THAT(ParseGtestOutput(GtestOutputFormat::kJson, text),
              UnorderedElementsAre(Pair("S.Passes", TestStatus::kPassed),
                                   Pair("S.Skips", TestStatus::kSkipped),
                                   Pair("S.Fails", TestStatus::kFailed)));
}

struct BadText {
  GtestOutputFormat format;
  const char* text;
};

class BadGtestOutputTest : public testing::TestWithParam<BadText> {};

TEST_P(BadGtestOutputTest, TellsNothing) {
  EXPECT_THAT(ParseGtestOutput(GetParam().format, GetParam().text), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    , BadGtestOutputTest,
    testing::Values(BadText{GtestOutputFormat::kXml, ""}, BadText{GtestOutputFormat::kXml, "<a"},
                    BadText{GtestOutputFormat::kJson, "["},
                    BadText{GtestOutputFormat::kJson, "[1]"},
                    BadText{GtestOutputFormat::kJson, R"({"testsuites": 1})"},
                    BadText{GtestOutputFormat::kJson, R"({"testsuites": [1, {"testsuite": 2}]})"}));

TEST(ReadGtestOutputTest, LeavesAFileOfAnEarlierRunAlone) {
  const GtestOutput output{GtestOutputFormat::kXml, "/etc/passwd"};
  EXPECT_THAT(ReadGtestOutput(output, std::filesystem::file_time_type::max()), IsEmpty());
}

TEST(ReadGtestOutputTest, TellsNothingOfAFileThatIsNotThere) {
  EXPECT_THAT(ReadGtestOutput({GtestOutputFormat::kXml, "/no/such/file"}, {}), IsEmpty());
}

// A test for every few bytes, and a suite whose name is looked for behind many others.
TEST(ParseGtestOutputTest, CostsAsMuchForEachByteHoweverLargeASuiteIs) {
  const auto make = [](std::size_t count) {
    std::string xml = "<testsuites><testsuite";
    for (std::size_t i = 0; i < count; ++i) xml += " a=\"\"";
    xml += " name=\"Suite\">";
    for (std::size_t i = 0; i < count; ++i) xml += "<testcase/>";
    return xml + "</testsuite></testsuites>";
  };
  const double growth = test::GrowthOfCost(2'000, make, [](const std::string& xml) {
    EXPECT_EQ(ParseGtestOutput(GtestOutputFormat::kXml, xml).size(), 1u);
  });
  EXPECT_LT(growth, test::kMostGrowth);
}

TEST(ParseGtestOutputTest, GivesNoTestASuitesNameThatIsLongerThanAnyIs) {
  for (const std::size_t length : {4096U, 4097U}) {
    const std::string name(length, 'n');
    const std::string xml = "<testsuites><testsuite name=\"" + name +
                            "\"><testcase name=\"t\"/></testsuite></testsuites>";
    const std::string json =
        R"({"testsuites": [{"name": ")" + name + R"(", "testsuite": [{"name": "t"}]}]})";
    const std::size_t count = length == 4096 ? 1 : 0;
    EXPECT_EQ(ParseGtestOutput(GtestOutputFormat::kXml, xml).size(), count);
    EXPECT_EQ(ParseGtestOutput(GtestOutputFormat::kJson, json).size(), count);
  }
}

}  // namespace
}  // namespace leakgate
