#include "runner/base/sizes_and_times.h"

#include <gtest/gtest.h>

namespace leakgate {
namespace {

TEST(SizesAndTimesTest, ASizeMayHaveAFractionAndAUnit) {
  EXPECT_EQ(ReadSize("64"), 64);
  EXPECT_EQ(ReadSize("64B"), 64);
  EXPECT_EQ(ReadSize("1.5K"), 1536);
  EXPECT_EQ(ReadSize("1.5KiB"), 1536);
  EXPECT_EQ(ReadSize("2G"), std::uint64_t{2} << 30);
}

TEST(SizesAndTimesTest, AWholeSizeIsExactAndHasNoFraction) {
  EXPECT_EQ(ReadWholeSize("9007199254740993"), 9007199254740993);
  EXPECT_EQ(ReadWholeSize("2TiB"), std::uint64_t{2} << 40);
  EXPECT_EQ(ReadWholeSize("1.5K"), std::nullopt);
  EXPECT_EQ(ReadWholeSize("8388608T"), std::nullopt);
}

TEST(SizesAndTimesTest, ATimeWithoutAUnitIsInSeconds) {
  EXPECT_EQ(ReadTimeNs("2.5"), 2'500'000'000);
  EXPECT_EQ(ReadTimeNs("10us"), 10'000);
  EXPECT_EQ(ReadTimeNs("2min"), 120'000'000'000);
  EXPECT_EQ(ReadTimeMs("2.5"), 2500);
  EXPECT_EQ(ReadTimeMs("500ms"), 500);
}

TEST(SizesAndTimesTest, MillisecondsAreNotReadFromFinerUnits) {
  EXPECT_EQ(ReadTimeMs("5000us"), std::nullopt);
}

TEST(SizesAndTimesTest, NothingIsReadFromOtherText) {
  for (const char* const text : {"", "K", "-1", "nan", "1e19", "64 K", "64k", "64Ki"}) {
    EXPECT_EQ(ReadSize(text), std::nullopt) << text;
  }
  for (const char* const text : {"", "s", "-1s", "nan", "1d", "2 s"}) {
    EXPECT_EQ(ReadTimeNs(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace leakgate
