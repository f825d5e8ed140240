#include <gmock/gmock.h>

#include "runner/report/failure_text.h"

namespace leakgate {
namespace {

using ::testing::EndsWith;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(CutInTheMiddleTest, LeavesAloneWhatFits) {
  EXPECT_EQ(CutInTheMiddle("answer\nremedy", 13), "answer\nremedy");
}

TEST(CutInTheMiddleTest, KeepsTheAnswerAndTheRemedy) {
  const std::string text = "answer\n" + std::string(1000, 'x') + "\nremedy";
  const std::string cut = CutInTheMiddle(text, 100);
  EXPECT_THAT(cut, SizeIs(100));
  EXPECT_THAT(cut, StartsWith("answer\nxxx"));
  EXPECT_THAT(cut, EndsWith("x\n  ... cut; all is in the JSON report\nremedy"));
}

TEST(CutInTheMiddleTest, CutsALastLineThatIsTooLongItself) {
  EXPECT_THAT(CutInTheMiddle(std::string(1000, 'x'), 200), SizeIs(200));
}

}  // namespace
}  // namespace leakgate
