// What a frame says. That the kernel takes it is seen where a runner is killed half way
// (tests/attach/cycles_test.cpp).
#include "runner/arch/signal_frame.h"

#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <cstring>

namespace leakgate {
namespace {

constexpr std::uint64_t kTop = 0x7000'0000'0100;

HeldState SomeState() {
  HeldState state;
  state.registers.rsp = kTop + 128;
  state.registers.rip = 0x5555'0000'1002;
  state.registers.rax = 7;
  state.registers.orig_rax = static_cast<std::uint64_t>(-1);
  state.vectors.assign(2696, 0);
  return state;
}

std::uint64_t WordAt(const SignalFrame& frame, std::size_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, &frame.bytes.at(offset), sizeof(word));
  return word;
}

// After the return address, the context's registers begin at its byte 40.
constexpr std::size_t kRax = 8 + 40 + 13 * 8;
constexpr std::size_t kRip = 8 + 40 + 16 * 8;

TEST(SignalFrameTest, LiesBelowTheTopAsAFunctionsEntryDoes) {
  const SignalFrame frame = MakeSignalFrame(SomeState(), kTop, 0x1234);
  EXPECT_LE(frame.address + frame.bytes.size(), kTop);
  EXPECT_EQ(frame.address % 16, 8U);
  EXPECT_EQ(WordAt(frame, 0), 0x1234U);
  EXPECT_EQ(frame.returned_at, frame.address + 8);
}

TEST(SignalFrameTest, HasAThreadGoOnWhereItWas) {
  const SignalFrame frame = MakeSignalFrame(SomeState(), kTop, 0x1234);
  EXPECT_EQ(WordAt(frame, kRip), 0x5555'0000'1002U);
  EXPECT_EQ(WordAt(frame, kRax), 7U);
}

TEST(SignalFrameTest, MakesAnInterruptedCallAgain) {
  HeldState state = SomeState();
  state.registers.orig_rax = SYS_read;
  for (const std::int64_t restart : {-512, -513, -514, -516}) {
    state.registers.rax = static_cast<std::uint64_t>(restart);
    const SignalFrame frame = MakeSignalFrame(state, kTop, 0x1234);
    EXPECT_EQ(WordAt(frame, kRip), 0x5555'0000'1000U);
    EXPECT_EQ(WordAt(frame, kRax), static_cast<std::uint64_t>(SYS_read));
  }
  state.registers.rax = 5;  // it has read five bytes
  EXPECT_EQ(WordAt(MakeSignalFrame(state, kTop, 0x1234), kRip), 0x5555'0000'1002U);
}

TEST(SignalFrameTest, LeavesOutWhatIsTooLarge) {
  HeldState state = SomeState();
  state.vectors.assign(11'008, 0);  // with AMX's tiles
  EXPECT_LT(MakeSignalFrame(state, kTop, 0x1234).bytes.size(), 4096U);
}

}  // namespace
}  // namespace leakgate
