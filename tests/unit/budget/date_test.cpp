#include <gtest/gtest.h>

#include "runner/budget/expiry.h"

namespace leakgate {
namespace {

using std::chrono::day;
using std::chrono::month;
using std::chrono::year;

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
