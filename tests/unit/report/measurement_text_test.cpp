// What a measuring window has outstanding, as the program's own assertions print it.
#include <gmock/gmock.h>

#include "runner/report/left_behind_text.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kRoom = 4095;
const TextStyle kStyle{.base_directory = sample::kProject};

Finding AllowedFinding() {
  Finding finding = sample::PoolFinding({16, 1});
  finding.disposition = Disposition::kAllowed;
  finding.explanation = "kept for good";
  return finding;
}

TEST(MeasurementTextTest, NamesTheCallSiteWithItsStack) {
  const std::string text = MeasurementText({sample::PoolFinding()}, kStyle, kRoom);
  EXPECT_THAT(text, HasSubstr("64 B in 1 block, new\n"));
  EXPECT_THAT(text, HasSubstr("> net::Pool::Grow(unsigned long)         src/net/pool.cc:88\n"));
}

TEST(MeasurementTextTest, TellsWhatDoesNotCountAndWhy) {
  const std::vector<Finding> findings = {AllowedFinding(),
                                         sample::FrameworkFinding({160, 1}, "gmock.registry")};
  EXPECT_EQ(CountedIn(findings), Amount{});
  const std::string text = MeasurementText(findings, kStyle, kRoom);
  EXPECT_THAT(text, HasSubstr("not counted: 16 B in 1 block by net::Pool::Grow"));
  EXPECT_THAT(text, HasSubstr("kept for good"));
  EXPECT_THAT(text, HasSubstr("not counted: 160 B in 1 block"));
  EXPECT_THAT(text, HasSubstr("gmock.registry"));
}

TEST(MeasurementTextTest, SumsWhatCounts) {
  const std::vector<Finding> findings = {sample::PoolFinding({64, 2}), AllowedFinding(),
                                         sample::LostFinding({32, 1})};
  EXPECT_EQ(CountedIn(findings), (Amount{96, 3}));
}

TEST(MeasurementTextTest, KeepsToItsRoomAndSaysHowManyMoreThereAre) {
  const std::vector<Finding> findings(100, sample::PoolFinding({1000, 1}));
  for (const std::size_t room : {std::size_t{0}, std::size_t{80}, std::size_t{700}, kRoom}) {
    EXPECT_LE(MeasurementText(findings, kStyle, room).size(), room);
  }
  const std::string text = MeasurementText(findings, kStyle, kRoom);
  EXPECT_THAT(text, HasSubstr("1000 B in 1 block by net::Pool::Grow (src/net/pool.cc:88)\n"));
  EXPECT_THAT(text, testing::ContainsRegex("  and [0-9]+ more call sites \\([0-9.]+ KiB\\)"));
}

TEST(MeasuringWindowLineTest, TellsNamePlaceAndHowMany) {
  MeasuringWindowResult window{"load", "/p/a.cc", 7, 1, 0, {64, 1}};
  EXPECT_EQ(MeasuringWindowLine(window),
            "measured: 64 B in 1 block outstanding at the end of 'load' (/p/a.cc:7)");
  window.count = 3;
  EXPECT_THAT(MeasuringWindowLine(window), HasSubstr("'load' (/p/a.cc:7), 3 times"));
  window.open_count = 3;
  EXPECT_THAT(MeasuringWindowLine(window), HasSubstr("at the program's end in 'load'"));
  window.file.clear();
  EXPECT_THAT(MeasuringWindowLine(window), Not(HasSubstr("/p/a.cc")));
}

}  // namespace
}  // namespace leakgate
