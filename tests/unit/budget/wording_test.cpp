// Words, sizes and dates: as messages show them, and as users write them.
#include "runner/budget/wording.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "runner/budget/apply_limits.h"

namespace leakgate {
namespace {

using std::chrono::day;
using std::chrono::month;
using std::chrono::year;

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
  EXPECT_EQ(FindNearestWord("rnu", {"run", "merge"}), "run");  // two letters swapped
}

TEST(WordingTest, FindsNoWordThatIsFarAway) {
  EXPECT_EQ(FindNearestWord("mapped", {"outstanding", "growth"}), std::nullopt);
}

TEST(WordingTest, TakesNoShortWordForAnother) {
  EXPECT_EQ(FindNearestWord("ab", {"xy", "b"}), std::nullopt);
}

std::string ProblemWith(const std::string& text) {
  const auto size = ParseSize(text);
  return size ? "no problem: " + std::to_string(*size) : size.error();
}

TEST(SizeTest, ReadsEveryUnit) {
  EXPECT_EQ(ParseSize("200 B"), 200);
  EXPECT_EQ(ParseSize("10 kB"), 10'000);
  EXPECT_EQ(ParseSize("10 MB"), 10'000'000);
  EXPECT_EQ(ParseSize("10 GB"), 10'000'000'000);
  EXPECT_EQ(ParseSize("64 KiB"), 65'536);
  EXPECT_EQ(ParseSize("64 MiB"), 67'108'864);
  EXPECT_EQ(ParseSize("64 GiB"), 68'719'476'736);
}

TEST(SizeTest, NeedsNoSpaceBeforeTheUnit) { EXPECT_EQ(ParseSize("64KiB"), 65'536); }

TEST(SizeTest, ReadsZero) { EXPECT_EQ(ParseSize("0 B"), 0); }

TEST(SizeTest, ReadsAFractionThatIsAWholeNumberOfBytes) {
  EXPECT_EQ(ParseSize("1.5 MiB"), 1'572'864);
  EXPECT_EQ(ParseSize("0.001 kB"), 1);
  EXPECT_EQ(ParseSize("1.0 B"), 1);
}

TEST(SizeTest, ReadsAFractionExactlyHoweverLong) {
  // 2^-30 GiB is one byte: 30 digits, more than a double holds.
  EXPECT_EQ(ParseSize("1.000000000931322574615478515625 GiB"), 1'073'741'825);
}

TEST(SizeTest, ReadsTheLargestSize) {
  EXPECT_EQ(ParseSize("9223372036854775807 B"), std::numeric_limits<std::int64_t>::max());
}

TEST(SizeTest, RefusesOneByteMoreThanTheLargest) {
  EXPECT_EQ(ProblemWith("9223372036854775808 B"),
            R"("9223372036854775808 B" is too large; write at most 9223372036854775807 bytes)");
}

TEST(SizeTest, RefusesAProductThatIsTooLarge) {
  EXPECT_EQ(ProblemWith("8589934592 GiB"),
            R"("8589934592 GiB" is too large; write at most 9223372036854775807 bytes)");
}

TEST(SizeTest, RefusesANumberTooLargeToRead) {
  EXPECT_EQ(ProblemWith("99999999999999999999999 B"),
            R"("99999999999999999999999 B" is too large; write at most 9223372036854775807 bytes)");
}

TEST(SizeTest, RefusesAPartOfAByte) {
  EXPECT_EQ(ProblemWith("1.3 KiB"),
            R"("1.3 KiB" is not a whole number of bytes; round it to one, or use a smaller unit)");
}

TEST(SizeTest, RefusesANegativeSize) {
  EXPECT_EQ(ProblemWith("-5 KiB"), R"("-5 KiB" is negative; write 0 or more)");
}

TEST(SizeTest, RefusesAMissingUnit) {
  EXPECT_EQ(ProblemWith("64"),
            R"("64" has no unit; write it without the quotes, or add one: "64 B")");
}

TEST(SizeTest, NamesTheUnitsWhenOneIsUnknown) {
  EXPECT_EQ(ProblemWith("64 kib"),
            R"("64 kib" has the unknown unit "kib"; use B, kB, MB, GB, KiB, MiB or GiB)");
}

TEST(SizeTest, RefusesTextBehindTheUnit) {
  EXPECT_EQ(ProblemWith("64 KiB max"),
            R"("64 KiB max" has the unknown unit "KiB max"; use B, kB, MB, GB, KiB, MiB or GiB)");
}

TEST(SizeTest, RefusesWhatDoesNotBeginWithANumber) {
  for (const std::string text : {"", "KiB", ".5 KiB", " 5 KiB", "+5 KiB", "5. KiB"}) {
    EXPECT_EQ(
        ProblemWith(text),
        "\"" + text + "\" is not a size; write a number of bytes or a string such as \"64 KiB\"");
  }
}

TEST(DateTest, ReadsYearMonthAndDay) {
  EXPECT_EQ(ParseDate("2026-01-31"), year(2026) / month(1) / day(31));
}

TEST(DateTest, KnowsLeapYears) {
  EXPECT_TRUE(ParseDate("2028-02-29"));
  EXPECT_FALSE(ParseDate("2026-02-29"));
}

TEST(DateTest, RefusesEveryOtherNotation) {
  for (const char* text :
       {"", "2026-1-31", "2026-13-01", "2026-00-10", "2026-01-00", "20260131", "2026/01/31",
        "31-01-2026", " 2026-01-31", "2026-01-31 ", "2026-01-3a"}) {
    EXPECT_FALSE(ParseDate(text)) << text;
  }
}

TEST(DateTest, WritesWhatItReads) {
  EXPECT_EQ(DateText(year(2026) / month(1) / day(3)), "2026-01-03");
  EXPECT_EQ(ParseDate(DateText(Today())), Today());
}

}  // namespace
}  // namespace leakgate
