// Which functions only return what a call has given them, told by their code.
#include "runner/arch/return_value.h"

#include <gtest/gtest.h>

#include "tests/unit/arch/aarch64/code.h"
#include "tests/unit/arch/aarch64/compiled_functions.h"

namespace leakgate {
namespace {

constexpr std::uint32_t kNop = 0xD503'201F;
constexpr std::uint32_t kCall = 0x9400'0000;

std::uint64_t BehindFirstCall(const std::vector<std::uint32_t>& code, const Code& placed) {
  for (std::size_t i = 0; i < code.size(); ++i) {
    if ((code[i] & 0xFC00'0000) == kCall) return placed.At(i + 1);
  }
  return 0;
}

TEST(ReturnValueTest, KnowsWrappersAsCompilersMakeThem) {
  for (const CompiledFunction& function : CompiledFunctions()) {
    const Code code(function.code);
    EXPECT_EQ(
        OnlyReturnsCallResult(code.begin(), BehindFirstCall(function.code, code), code.Reader()),
        function.is_wrapper)
        << function.name << " by " << function.compiler;
  }
}

// `code` follows the call, in a function that is not known further.
bool OnlyReturns(std::vector<std::uint32_t> code) {
  const Code placed(std::move(code));
  return OnlyReturnsCallResult(0, placed.begin(), placed.Reader());
}

TEST(ReturnValueTest, FollowsThePointerThroughRegistersAndTheFrame) {
  EXPECT_TRUE(OnlyReturns({kReturn}));
  EXPECT_TRUE(OnlyReturns({0xAA00'03F3, 0xAA13'03E0, kReturn}));  // mov x19, x0; mov x0, x19
  EXPECT_TRUE(OnlyReturns({0xF900'07E0, 0xD280'0000, 0xF940'07E0, kReturn}));   // by [sp, 8]
  EXPECT_TRUE(OnlyReturns({0xF81F'0FE0, 0xD280'0000, 0xF841'07E0, kReturn}));   // [sp, -16]!
  EXPECT_FALSE(OnlyReturns({0xF900'07E0, 0xF900'07FF, 0xF940'07E0, kReturn}));  // overwritten
  EXPECT_FALSE(OnlyReturns({0xF900'07E0, 0xB900'0BFF, 0xF940'07E0, kReturn}));  // half of it
  EXPECT_FALSE(OnlyReturns({0x2A00'03E0, kReturn}));                            // mov w0, w0
}

TEST(ReturnValueTest, DoesNotTrustWhatIsMadeOfThePointer) {
  EXPECT_FALSE(OnlyReturns({0x9100'2000, kReturn}));               // add x0, x0, 8
  EXPECT_FALSE(OnlyReturns({0x9100'2001, 0xF900'0041, kReturn}));  // that into [x2]
  EXPECT_FALSE(OnlyReturns({0xAA00'03E1, 0xF900'0041, kReturn}));  // a copy into [x2]
  EXPECT_FALSE(OnlyReturns({0xD348'FC01, 0xF900'0041, kReturn}));  // lsr 8 into [x2]
  EXPECT_FALSE(OnlyReturns({0xB900'0040, kReturn}));               // half of it
  EXPECT_FALSE(OnlyReturns({0xF900'0000, kReturn}));               // into the block itself
  EXPECT_FALSE(OnlyReturns({0xA900'0440, kReturn}));               // stp x0, x1, [x2]
  EXPECT_FALSE(OnlyReturns({0xF821'6840, kReturn}));               // [x2, x1]
  EXPECT_FALSE(OnlyReturns({0xF8A0'0041, kReturn}));               // swpa
  EXPECT_FALSE(OnlyReturns({0x9E67'0000, kReturn}));               // fmov d0, x0
  EXPECT_FALSE(OnlyReturns({0xF900'07E0, 0xFD40'07E1, kReturn}));  // ldr d1 from its word
  EXPECT_FALSE(OnlyReturns({0xF900'07E0, 0x9100'23E1, kReturn}));  // the word's address
  EXPECT_FALSE(OnlyReturns({0xDAC1'0BE0, kReturn}));               // pacdza
}

TEST(ReturnValueTest, LetsCountersAndWritesBe) {
  // ldr x1, [x2]; add x1, x1, 1; str x1, [x2]; str x1, [x0]
  EXPECT_TRUE(OnlyReturns({0xF940'0041, 0x9100'0421, 0xF900'0041, 0xF900'0001, kReturn}));
  EXPECT_TRUE(OnlyReturns({0xA900'7C1F, kReturn}));        // stp xzr, xzr, [x0]
  EXPECT_TRUE(OnlyReturns({kNop, 0xD503'23BF, kReturn}));  // autiasp
}

TEST(ReturnValueTest, PassesOverWhatHappensForNull) {
  constexpr std::uint32_t kTrap = 0xD420'0020;                            // brk
  EXPECT_TRUE(OnlyReturns({0xB400'0040, kReturn, kTrap}));                // cbz
  EXPECT_TRUE(OnlyReturns({0xB500'0040, kTrap, kReturn}));                // cbnz
  EXPECT_TRUE(OnlyReturns({0xF100'001F, 0x5400'0040, kReturn, kTrap}));   // cmp x0, 0; b.eq
  EXPECT_TRUE(OnlyReturns({0xEA00'001F, 0x5400'0041, kTrap, kReturn}));   // tst x0, x0; b.ne
  EXPECT_FALSE(OnlyReturns({0xF100'041F, 0x5400'0040, kReturn, kTrap}));  // cmp x0, 1
  EXPECT_FALSE(OnlyReturns({0x3400'0040, kReturn, kTrap}));               // of w0
  EXPECT_FALSE(OnlyReturns({0xB400'0041, kReturn, kTrap}));               // of x1
}

TEST(ReturnValueTest, DoesNotCallOrJumpElsewhere) {
  EXPECT_FALSE(OnlyReturns({kCall, kReturn}));
  EXPECT_FALSE(OnlyReturns({0xD63F'0020, kReturn}));  // blr x1
  EXPECT_FALSE(OnlyReturns({0xD61F'0020}));           // br x1
  EXPECT_FALSE(OnlyReturns({0xD65F'0020}));           // ret x1
  EXPECT_FALSE(OnlyReturns({0x1400'0000}));           // round and round
  EXPECT_FALSE(OnlyReturns({kNop}));                  // nothing behind it
}

}  // namespace
}  // namespace leakgate
