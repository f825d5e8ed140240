#include "runner/reach/linux/kernel_words.h"

#include <gmock/gmock.h>

namespace leakgate {
namespace {

using testing::ElementsAre;

TEST(KernelWordsTest, ReadsWhatAnEpollDescriptorKeeps) {
  EXPECT_THAT(ParseEpollWords("pos:\t0\nflags:\t02\nmnt_id:\t15\nino:\t1057\n"
                              "tfd:        5 events:       1d data:     7f1234567890  pos:0 "
                              "ino:61af sdev:7\n"
                              "tfd:       12 events:       19 data: ffffffffffffffff  pos:0 "
                              "ino:61b0 sdev:7\n"),
              ElementsAre(0x7F12'3456'7890, ~std::uint64_t{0}));
}

TEST(KernelWordsTest, ReadsTheValuesOfTimers) {
  EXPECT_THAT(ParseTimers("ID: 1\nsignal: 60/00007fff86e452a8\nnotify: signal/pid.2634\n"
                          "ClockID: 0\nID: 0\nsignal: 34/000055d0c0ffee00\n"
                          "notify: thread/tid.8\nClockID: 1\n"),
              ElementsAre(KernelObject{"timer 1", {0x7FFF'86E4'52A8}},
                          KernelObject{"timer 0", {0x55D0'C0FF'EE00}}));
}

TEST(KernelWordsTest, SkipsWhatItDoesNotKnow) {
  EXPECT_THAT(ParseEpollWords("tfd: 5 events: 19 data: \ntfd:"), testing::IsEmpty());
  EXPECT_THAT(ParseTimers("signal: 1/2\nID: 7\nsignal: here\n"),
              ElementsAre(KernelObject{"timer 7", {}}));
}

}  // namespace
}  // namespace leakgate
