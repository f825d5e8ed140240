// What is read in machine code of calls, stubs and the C library.
#include "runner/arch/processor.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/arch/aarch64/code.h"

namespace leakgate {
namespace {

constexpr std::uint32_t kBtiC = 0xD503'245F;

std::optional<std::uint64_t> ErrnoOffset(std::vector<std::uint32_t> code) {
  code.resize(kErrnoCodeBytes / sizeof(code[0]), 0);
  std::vector<std::uint8_t> bytes(kErrnoCodeBytes);
  std::memcpy(bytes.data(), code.data(), bytes.size());
  return FindErrnoOffset(bytes, 0x27BE0);
}

TEST(ErrnoOffsetTest, IsFoundInCodeOfDebians) {
  // adrp x0, 19f000; ldr x0, [x0, 3520]; mrs x1, tpidr_el0; add x0, x1, x0; ret
  EXPECT_EQ(ErrnoOffset({0x9000'0BC0, 0xF946'E000, 0xD53B'D041, 0x8B00'0020, kReturn}), 0x19FDC0U);
}

TEST(ErrnoOffsetTest, IsFoundInAnyOrder) {
  EXPECT_EQ(ErrnoOffset({kBtiC, 0xD53B'D041, 0x9000'0BC0, 0xF946'E000, 0x8B01'0000, kReturn}),
            0x19FDC0U);
}

TEST(ErrnoOffsetTest, IsNotGuessed) {
  EXPECT_EQ(ErrnoOffset({0x9000'0BC0, 0xD53B'D041, 0x8B00'0020, kReturn}), std::nullopt);  // no ldr
  EXPECT_EQ(ErrnoOffset({0x9000'0BC0, 0xF946'E000, 0x8B00'0020, kReturn}), std::nullopt);  // no mrs
  EXPECT_EQ(ErrnoOffset({0x9400'0000, kReturn}), std::nullopt);
  EXPECT_EQ(ErrnoOffset({0x9000'0BC0, 0xF946'E000, 0xD53B'D041, 0x8B00'0020}), std::nullopt);
}

TEST(ReadCallTest, TellsWhereACallLeads) {
  const Code code({0x9400'0003, kReturn});  // bl +12
  const CallCode call = ReadCall(code.At(1), code.Reader());
  EXPECT_EQ(call.function, code.At(3));
  EXPECT_FALSE(call.is_through_pointer);
  const Code back({kReturn, 0x97FF'FFFF, kReturn});
  EXPECT_EQ(ReadCall(back.At(2), back.Reader()).function, back.At(0));
}

TEST(ReadCallTest, KnowsCallsThroughPointers) {
  for (const std::uint32_t call : {0xD63F'0020U, 0xD63F'083FU, 0xD63F'0C3FU, 0xD73F'0822U}) {
    const Code code({call, kReturn});
    EXPECT_TRUE(ReadCall(code.At(1), code.Reader()).is_through_pointer);
    EXPECT_EQ(ReadCall(code.At(1), code.Reader()).slot, std::nullopt);
  }
  const Code none({0xD61F'0020, kReturn});  // br
  EXPECT_FALSE(ReadCall(none.At(1), none.Reader()).is_through_pointer);
}

TEST(ReadCallTest, FindsTheSlotThatWasLoadedInFront) {
  // adrp x1, +1 page; mov x0, x2; ldr x1, [x1, 0x18]; mov w2, 3; blr x1
  const Code code({0xB000'0001, 0xAA02'03E0, 0xF940'0C21, 0x5280'0062, 0xD63F'0020});
  EXPECT_EQ(ReadCall(code.At(5), code.Reader()).slot, 0x40'1018U);
  // The register is something else by then.
  const Code other({0xB000'0001, 0xF940'0C21, 0xF940'0021, 0xD63F'0020});
  EXPECT_EQ(ReadCall(other.At(4), other.Reader()).slot, std::nullopt);
  const Code called({0xB000'0001, 0xF940'0C21, 0x9400'0000, 0xD63F'0020});
  EXPECT_EQ(ReadCall(called.At(4), called.Reader()).slot, std::nullopt);
}

TEST(StubTest, LeadsToItsSlot) {
  // adrp x16, +1 page; ldr x17, [x16, 0x18]; add x16, x16, 0x18; br x17
  const Code plain({0xB000'0010, 0xF940'0E11, 0x9100'6210, 0xD61F'0220});
  EXPECT_EQ(FindSlotOfStub(plain.begin(), plain.Reader()), 0x40'1018U);
  const Code marked({kBtiC, 0xB000'0010, 0xF940'0E11, 0x9100'6210, 0xD61F'0220});
  EXPECT_EQ(FindSlotOfStub(marked.begin(), marked.Reader()), 0x40'1018U);
  const Code checked({0xB000'0010, 0xF940'0E11, 0x9100'6210, 0xD503'219F, 0xD61F'0220});
  EXPECT_EQ(FindSlotOfStub(checked.begin(), checked.Reader()), 0x40'1018U);
}

TEST(StubTest, IsFoundBehindAForwardingFunction) {
  // libc_nonshared.a's atexit: adrp x2; mov x1, 0; ldr x2, [x2]; b stub
  const Code code({0x9000'0002, 0xD280'0001, 0xF940'0042, 0x1400'0001,  //
                   0xB000'0010, 0xF940'0E11, 0x9100'6210, 0xD61F'0220});
  EXPECT_EQ(FindSlotOfStub(code.begin(), code.Reader()), 0x40'1018U);
}

TEST(StubTest, IsFoundBehindALongJump) {
  // adrp x16, 0; add x16, x16, 12; br x16
  const Code code({0x9000'0010, 0x9100'3210, 0xD61F'0200,  //
                   0xB000'0010, 0xF940'0E11, 0x9100'6210, 0xD61F'0220});
  EXPECT_EQ(FindSlotOfStub(code.begin(), code.Reader()), 0x40'1018U);
}

TEST(StubTest, IsNoOrdinaryFunction) {
  const Code jumps({0xB000'0010, 0xF940'0E11, 0x9100'6210, 0xD61F'0200});  // br x16
  EXPECT_EQ(FindSlotOfStub(jumps.begin(), jumps.Reader()), std::nullopt);
  const Code returns({0xB000'0010, 0xF940'0E11, kReturn});
  EXPECT_EQ(FindSlotOfStub(returns.begin(), returns.Reader()), std::nullopt);
  const Code endless({0x1400'0000});
  EXPECT_EQ(FindSlotOfStub(endless.begin(), endless.Reader()), std::nullopt);
}

}  // namespace
}  // namespace leakgate
