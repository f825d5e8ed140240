// What the registers of a stopped thread say of its system call. That the kernel sees it so is
// seen with processes (tests/attach/waits_test.cpp).
#include "runner/arch/registers.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>

#include "runner/arch/pointer.h"

namespace leakgate {
namespace {

RegisterSet RegistersAt(std::uint64_t pc) {
  RegisterSet registers{};
  registers.pc = pc;
  registers.system_call = -1;
  registers.x[8] = SYS_epoll_pwait;
  return registers;
}

TEST(StoppedCallTest, IsNoneWhereNoCallIs) { EXPECT_LT(SystemCallOf(RegistersAt(0x1000)), 0); }

TEST(StoppedCallTest, IsToldByItsNumberWhereTheThreadIsBesideTheCall) {
  RegisterSet before = RegistersAt(0x1000);
  before.is_before_call = true;
  EXPECT_EQ(SystemCallOf(before), SYS_epoll_pwait);
  RegisterSet behind = RegistersAt(0x1004);
  behind.is_behind_call = true;
  EXPECT_EQ(SystemCallOf(behind), SYS_epoll_pwait);
}

TEST(StoppedCallTest, IsToldByTheKernelWhereItStopsAThreadForACall) {
  RegisterSet registers = RegistersAt(0x1004);
  registers.system_call = SYS_read;
  EXPECT_EQ(SystemCallOf(registers), SYS_read);
}

TEST(StoppedCallTest, IsMadeAgainWithItsArgument) {
  RegisterSet registers = RegistersAt(0x1004);
  registers.is_behind_call = true;
  registers.x[0] = static_cast<std::uint64_t>(-EINTR);
  registers.first_argument = 7;
  PrepareCallRestart(registers);
  EXPECT_EQ(registers.pc, 0x1000U);
  EXPECT_EQ(registers.x[0], 7U);
  EXPECT_EQ(SystemCallOf(registers), SYS_epoll_pwait);
}

TEST(SignedAddressTest, LosesItsSignature) {
  EXPECT_EQ(WithoutSignature(0x003B'FFFF'8123'4564), 0x0000'FFFF'8123'4564U);
  EXPECT_EQ(WithoutSignature(0x0000'AAAA'8123'4564), 0x0000'AAAA'8123'4564U);
  EXPECT_EQ(WithoutSignature(~std::uint64_t{0}), ~std::uint64_t{0});  // no address of a process
}

TEST(PointerTest, IsTakenWithoutItsTag) {
  EXPECT_EQ(AddressIn(0x5A00'FFFF'8123'4560), 0x0000'FFFF'8123'4560U);
  EXPECT_EQ(AddressIn(0x005A'FFFF'8123'4560), 0x005A'FFFF'8123'4560U);  // that would be a fault
}

}  // namespace
}  // namespace leakgate
