// What a frame says. That the kernel takes it is seen where a runner is killed half way
// (tests/attach/cycles_test.cpp).
#include "runner/arch/signal_frame.h"

#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <cstring>

#include "runner/arch/aarch64/vectors.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kTop = 0xFFFF'7000'0108;
constexpr std::uint64_t kRestorer = 0xFFFF'8000'0610;
constexpr std::size_t kMask = 168;
constexpr std::size_t kX0 = 312;
constexpr std::size_t kSp = 560;
constexpr std::size_t kPc = 568;
constexpr std::size_t kRecords = 592;

HeldState SomeState() {
  HeldState state;
  state.registers.x[0] = 7;
  state.registers.sp = kTop;
  state.registers.pc = 0xAAAA'0000'1000;
  state.registers.pstate = 0x6000'0C00;  // it has jumped
  state.registers.system_call = -1;
  state.vectors.assign(kPlainVectorBytes, 0);
  state.vectors[0] = 0x11;
  state.blocked_signals = 0x1234;
  return state;
}

// Scalable vectors of 32 bytes.
HeldState StateWithScalable() {
  HeldState state = SomeState();
  const std::size_t registers = ScalableRegisterBytes(32);
  const ScalableHeader header{.bytes = static_cast<std::uint32_t>(sizeof(header) + registers),
                              .most_bytes = 0,
                              .vector_bytes = 32,
                              .most_vector_bytes = 32,
                              .flags = kHasScalable,
                              .reserved = 0};
  state.vectors.resize(kPlainVectorBytes + sizeof(header) + registers + 16);
  std::memcpy(&state.vectors[kPlainVectorBytes], &header, sizeof(header));
  state.vectors[kPlainVectorBytes + sizeof(header)] = 0x22;
  return state;
}

template <typename Value = std::uint64_t>
Value At(const SignalFrame& frame, std::size_t offset) {
  Value value{};
  std::memcpy(&value, &frame.bytes.at(offset), sizeof(value));
  return value;
}

TEST(SignalFrameTest, LiesBelowTheTopAsTheKernelNeedsIt) {
  const SignalFrame frame = MakeSignalFrame(SomeState(), kTop, kRestorer);
  EXPECT_LE(frame.address + 592 + 4096, kTop);
  EXPECT_EQ(frame.address % 16, 0U);
  EXPECT_EQ(frame.returned_at, frame.address);
}

TEST(SignalFrameTest, HasAThreadGoOnWhereItWas) {
  const SignalFrame frame = MakeSignalFrame(SomeState(), kTop, kRestorer);
  EXPECT_EQ(At(frame, kX0), 7U);
  EXPECT_EQ(At(frame, kSp), kTop);
  EXPECT_EQ(At(frame, kPc), 0xAAAA'0000'1000U);
  EXPECT_EQ(At(frame, kMask), 0x1234U);
}

TEST(SignalFrameTest, HasThePlainVectorsAndAnEnd) {
  const SignalFrame frame = MakeSignalFrame(SomeState(), kTop, kRestorer);
  EXPECT_EQ(At<std::uint32_t>(frame, kRecords), 0x4650'8001U);
  EXPECT_EQ(At<std::uint32_t>(frame, kRecords + 4), 528U);
  EXPECT_EQ(At<std::uint8_t>(frame, kRecords + 16), 0x11U);
  EXPECT_EQ(At(frame, kRecords + 528), 0U);
  EXPECT_EQ(frame.bytes.size(), kRecords + 528 + 16);
}

TEST(SignalFrameTest, HasScalableVectorsBehindTheirOwnRecord) {
  const SignalFrame frame = MakeSignalFrame(StateWithScalable(), kTop, kRestorer);
  const std::size_t extra = kRecords + 528;
  EXPECT_EQ(At<std::uint32_t>(frame, extra), 0x4558'5401U);
  const std::size_t scalable = extra + 32 + 16;
  EXPECT_EQ(At(frame, extra + 8), frame.address + scalable);
  EXPECT_EQ(At<std::uint32_t>(frame, scalable), 0x5356'4501U);
  const std::size_t bytes = At<std::uint32_t>(frame, scalable + 4);
  EXPECT_EQ(bytes, (16 + 546 * 2 + 15) / 16 * 16U);
  EXPECT_EQ(At<std::uint16_t>(frame, scalable + 8), 32U);
  EXPECT_EQ(At<std::uint8_t>(frame, scalable + 16), 0x22U);
  EXPECT_EQ(At<std::uint32_t>(frame, extra + 16), bytes + 16);
  EXPECT_EQ(At(frame, scalable + bytes), 0U);
  EXPECT_LE(frame.address + frame.bytes.size(), kTop);
}

TEST(SignalFrameTest, LeavesOutScalableVectorsThatAreNotInUse) {
  HeldState state = SomeState();
  state.vectors.resize(kPlainVectorBytes + sizeof(ScalableHeader) + 528);
  EXPECT_EQ(MakeSignalFrame(state, kTop, kRestorer).bytes.size(), kRecords + 528 + 16);
}

TEST(SignalFrameTest, IsReturnedThrough) {
  const HeldState state = SomeState();
  const SignalFrame frame = MakeSignalFrame(state, kTop, kRestorer);
  const RegisterSet entering =
      EnteringCall(state.registers, frame, kRestorer, {0xAAAA'0000'2000, {1, 2, 3, 4, 5, 6}});
  EXPECT_EQ(entering.pc, 0xAAAA'0000'2000U);
  EXPECT_EQ(entering.x[5], 6U);
  EXPECT_EQ(entering.x[30], kRestorer);
  EXPECT_EQ(entering.sp, frame.address);
  EXPECT_EQ(entering.pstate, 0x6000'0000U);  // as if by no jump
  EXPECT_LT(SystemCallOf(entering), 0);

  RegisterSet leaving = entering;
  leaving.pc = kRestorer + 8;
  EXPECT_FALSE(IsLeavingCall(leaving, frame, kRestorer));
  leaving.system_call = SYS_rt_sigreturn;
  EXPECT_TRUE(IsLeavingCall(leaving, frame, kRestorer));
}

}  // namespace
}  // namespace leakgate
