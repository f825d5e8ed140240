#include "runner/cli/terminal.h"

#include <gtest/gtest.h>

namespace leakgate {
namespace {

TEST(ConsoleTextTest, KeepsLinesAndColours) {
  const std::string text = "leakgate: 2 tests\n  " + Paint("over", Emphasis::kBad, Colour::kOn) +
                           " Größe net::Pool::Grow\n";
  EXPECT_EQ(ConsoleText(text), text);
}

TEST(ConsoleTextTest, EscapesAllElseThatIsNotText) {
  EXPECT_EQ(ConsoleText("a\x1b[2Jb\x1b]0;c\x07\r\t\x7f"),
            "a\\x1b[2Jb\\x1b]0;c\\x07\\x0d\\x09\\x7f");
  EXPECT_EQ(ConsoleText("\x1b[31mred\x1b"), "\\x1b[31mred\\x1b");  // no colour of Paint's
  EXPECT_EQ(ConsoleText("a\u202eb\xff"), "a\\xe2\\x80\\xaeb\\xff");
}

TEST(ConsoleTextTest, BreaksWhatGitHubTakesForACommand) {
  EXPECT_EQ(ConsoleText("::error::a\n  ::error::b\nc ::d"),
            "\\x3a:error::a\n  \\x3a:error::b\nc ::d");
  EXPECT_EQ(ConsoleText("\u00a0\u3000::error::a"), "\u00a0\u3000\\x3a:error::a");
  EXPECT_EQ(ConsoleText("\x1b[1m::error::a"), "\x1b[1m\\x3a:error::a");
  EXPECT_EQ(ConsoleText(":a ::b"), ":a ::b");
  EXPECT_EQ(ConsoleText(" : ::b"), " : ::b");
}

TEST(ConsoleTextTest, BreaksWhatAzureAndTeamCityTakeForACommand) {
  EXPECT_EQ(ConsoleText("a ##[error]b ##vso[c]\n##teamcity[d]"),
            "a \\x23#[error]b \\x23#vso[c]\n\\x23#teamcity[d]");
  EXPECT_EQ(ConsoleText("###[error]"), "\\x23\\x23#[error]");
  EXPECT_EQ(ConsoleText("issue #1"), "issue #1");
}

TEST(ConsoleJsonTest, IsTheSameJsonThatPrintLeavesAsItIs) {
  const nlohmann::ordered_json json = {{"a\u202e\x1b##[", "::b\n###\u009b\x7f Größe"},
                                       {"c", "\xff"}};
  const std::string text = ConsoleJson(json, 1);

  EXPECT_EQ(ConsoleText(text), text);
  const auto read = nlohmann::ordered_json::parse(text);
  EXPECT_EQ(read["a\u202e\x1b##["], json["a\u202e\x1b##["]);
  EXPECT_EQ(read["c"], "\ufffd");
}

}  // namespace
}  // namespace leakgate
