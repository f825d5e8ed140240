#include <gmock/gmock.h>

#include "runner/report/left_behind_text.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using testing::HasSubstr;

constexpr const char* kNothing =
    "<CTestMeasurement type=\"numeric/double\" name=\"leakgate outstanding "
    "bytes\">0</CTestMeasurement>\n"
    "<CTestMeasurement type=\"numeric/double\" name=\"leakgate outstanding "
    "blocks\">0</CTestMeasurement>\n"
    "<CTestMeasurement type=\"numeric/double\" name=\"leakgate lost bytes\">0</CTestMeasurement>\n";

TEST(CTestMeasurementsTest, AreZeroWhereNothingIsLeft) {
  EXPECT_EQ(CTestMeasurementsText(sample::RunOf({sample::PassingTest("A.B")})), kNothing);
}

TEST(CTestMeasurementsTest, AddUpTheTests) {
  const std::string text = CTestMeasurementsText(
      sample::RunOf({sample::FailingUncoveredTest("A.B"), sample::FailingUncoveredTest("A.C")}));
  EXPECT_THAT(text, HasSubstr("outstanding bytes\">256<"));
  EXPECT_THAT(text, HasSubstr("outstanding blocks\">4<"));
  EXPECT_THAT(text, HasSubstr("lost bytes\">256<"));
}

TEST(CTestMeasurementsTest, CountNothingTwiceForTheProgram) {
  EXPECT_EQ(
      CTestMeasurementsText(sample::RunOf({sample::PassingTest("A.B"), sample::FailingProgram()})),
      kNothing);
}

TEST(CTestMeasurementsTest, TellWhatAProgramWithoutTestsLeft) {
  EXPECT_THAT(CTestMeasurementsText(sample::RunOf({sample::FailingProgram()})),
              HasSubstr("outstanding bytes\">128<"));
}

}  // namespace
}  // namespace leakgate
