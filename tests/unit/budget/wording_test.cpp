#include "runner/budget/wording.h"

#include <gtest/gtest.h>

namespace leakgate {
namespace {

TEST(WordingTest, QuotesOnOneLine) { EXPECT_EQ(Quoted("a\n\"b\""), R"("a\n\"b\"")"); }

TEST(WordingTest, QuotesBytesThatAreNotUtf8) { EXPECT_EQ(Quoted("\xff"), "\"\uFFFD\""); }

TEST(WordingTest, ListsOneWordWithoutAConjunction) { EXPECT_EQ(QuotedList({"a"}, "or"), R"("a")"); }

TEST(WordingTest, JoinsTheLastTwoWords) {
  EXPECT_EQ(QuotedList({"a", "b"}, "or"), R"("a" or "b")");
  EXPECT_EQ(QuotedList({"a", "b", "c"}, "and"), R"("a", "b" and "c")");
}

TEST(WordingTest, FindsTheNearestWord) {
  EXPECT_EQ(FindNearestWord("blocs", {"bytes", "blocks"}), "blocks");
  EXPECT_EQ(FindNearestWord("Test", {"test", "tests"}), "test");
}

TEST(WordingTest, FindsNoWordThatIsFarAway) {
  EXPECT_EQ(FindNearestWord("mapped", {"outstanding", "growth"}), std::nullopt);
}

TEST(WordingTest, TakesNoShortWordForAnother) {
  EXPECT_EQ(FindNearestWord("ab", {"xy", "b"}), std::nullopt);
}

}  // namespace
}  // namespace leakgate
