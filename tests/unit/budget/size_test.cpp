#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "runner/budget/wording.h"

namespace leakgate {
namespace {

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

}  // namespace
}  // namespace leakgate
