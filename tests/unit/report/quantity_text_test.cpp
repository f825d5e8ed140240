#include <gtest/gtest.h>

#include <limits>

#include "runner/region/amount.h"

namespace leakgate {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(QuantityTextTest, BytesAreExactBelowTenKibibytes) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(10 * 1024 - 1), "10239 B");
}

TEST(QuantityTextTest, LargerBytesHaveOneDecimal) {
  EXPECT_EQ(FormatBytes(10 * 1024), "10.0 KiB");
  EXPECT_EQ(FormatBytes(11952), "11.7 KiB");
  EXPECT_EQ(FormatBytes(3 * 1024 * 1024 / 2), "1.5 MiB");
}

TEST(QuantityTextTest, BytesThatWouldRoundToTheNextUnitAreToldInIt) {
  EXPECT_EQ(FormatBytes(1024 * 1024 - 1), "1.0 MiB");
}

TEST(QuantityTextTest, NegativeBytesKeepTheirSign) {
  EXPECT_EQ(FormatBytes(-64), "-64 B");
  EXPECT_EQ(FormatBytes(-20 * 1024), "-20.0 KiB");
}

TEST(QuantityTextTest, TheLargestAndSmallestNumbersAreToldToo) {
  EXPECT_EQ(FormatBytes(std::numeric_limits<std::int64_t>::max()), "8.0 EiB");
  EXPECT_EQ(FormatBytes(std::numeric_limits<std::int64_t>::min()), "-8.0 EiB");
}

TEST(QuantityTextTest, OneIsSingular) {
  EXPECT_EQ(FormatCount(1, "block"), "1 block");
  EXPECT_EQ(FormatCount(0, "block"), "0 blocks");
  EXPECT_EQ(FormatCount(2, "block"), "2 blocks");
}

TEST(QuantityTextTest, AnAmountIsBytesInBlocks) {
  EXPECT_EQ(FormatAmount({64, 1}), "64 B in 1 block");
}

TEST(QuantityTextTest, AChangeAlwaysHasItsSign) {
  EXPECT_EQ(FormatChange({64, 1}), "+64 B (+1 block)");
  EXPECT_EQ(FormatChange({-8, -1}), "-8 B (-1 block)");
  EXPECT_EQ(FormatChange({0, 0}), "+0 B (+0 blocks)");
}

TEST(QuantityTextTest, DurationsHaveTheUnitThatFits) {
  EXPECT_EQ(FormatDuration(microseconds(400)), "0.4 ms");
  EXPECT_EQ(FormatDuration(milliseconds(41)), "41 ms");
  EXPECT_EQ(FormatDuration(milliseconds(2310)), "2.31 s");
  EXPECT_EQ(FormatDuration(seconds(200)), "3 min 20 s");
}

TEST(QuantityTextTest, DurationsNeverRoundPastTheirUnit) {
  EXPECT_EQ(FormatDuration(microseconds(999'900)), "1.00 s");
  EXPECT_EQ(FormatDuration(milliseconds(59'999)), "1 min 0 s");
}

}  // namespace
}  // namespace leakgate
