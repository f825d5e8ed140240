// Frames that only this processor has, walked by the agent's unwinder and by libgcc's.
#include <asm/hwcap.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "tests/unit/agent/walk.h"

extern "C" void WalkFromScalableFrame(void (*function)(void*), void* argument);
extern "C" void StopWithoutAFrame();

namespace leakgate::test {
namespace {

void ExpectSame(const TwoWalks& walks) {
  EXPECT_THAT(walks.ours, testing::SizeIs(testing::Gt(3U)));
  EXPECT_THAT(walks.ours, testing::ElementsAreArray(walks.libgccs));
  EXPECT_EQ(walks.end, UnwindEnd::kOutermost);
}

// Of a function that keeps vectors of SVE's, whose length only the machine knows.
TEST(OddFramesTest, MeasuredInVectors) {
  if ((::getauxval(AT_HWCAP) & HWCAP_SVE) == 0) GTEST_SKIP() << "this processor has no SVE";
  TwoWalks walks;
  WalkFromScalableFrame([](void* to) { WalkHere(*static_cast<TwoWalks*>(to)); }, &walks);
  ExpectSame(walks);
}

TwoWalks* g_walks = nullptr;

void WalkAndGoOn(int, siginfo_t*, void* context) {
  WalkHere(*g_walks);
  static_cast<ucontext_t*>(context)->uc_mcontext.pc += 4;
}

// A signal interrupts a function that has nothing on the stack: its caller's stack pointer is its
// own.
TEST(OddFramesTest, InterruptedAndWithoutAFrame) {
  TwoWalks walks;
  g_walks = &walks;
  struct sigaction action {};
  action.sa_sigaction = WalkAndGoOn;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGTRAP, &action, nullptr);
  StopWithoutAFrame();
  ::signal(SIGTRAP, SIG_DFL);
  ExpectSame(walks);
}

}  // namespace
}  // namespace leakgate::test
