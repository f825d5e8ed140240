#include "runner/symbols/elf/call_target.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/symbols/compiled_library.h"

namespace leakgate {
namespace {

// The call to Here in each Call... function returns to the address that the function returns.
constexpr char kCallsSource[] = R"(
extern "C" __attribute__((noinline)) void* Here() { return __builtin_return_address(0); }
extern "C" void* CallDirectly() {
  void* here = Here();
  asm volatile("" : "+r"(here));
  return here;
}
extern "C" void* CallByPointer() {
  void* (*pointer)() = &Here;
  asm volatile("" : "+r"(pointer));
  void* here = pointer();
  asm volatile("" : "+r"(here));
  return here;
}
static inline __attribute__((always_inline)) void* Inlined() {
  void* here = Here();
  asm volatile("nop");
  asm volatile("" : "+r"(here));
  return here;
}
extern "C" void* CallInlined() { return Inlined(); }
)";

constexpr char kCallThroughTheStubOnly[] = R"(
extern "C" __attribute__((noinline)) void* Here() { return __builtin_return_address(0); }
extern "C" void* CallDirectly() {
  void* here = Here();
  asm volatile("" : "+r"(here));
  return here;
}
)";

constexpr char kCallInternal[] = R"(
static __attribute__((noinline)) void* Here() { return __builtin_return_address(0); }
extern "C" void* CallDirectly() {
  void* here = Here();
  asm volatile("" : "+r"(here));
  return here;
}
)";

class CallTargetLinkTest : public testing::TestWithParam<const char*> {};

TEST_P(CallTargetLinkTest, NamesTheExportedFunctionThatIsCalled) {
  const CompiledLibrary library(kCallThroughTheStubOnly, GetParam());

  EXPECT_EQ(FramesOf(library, "CallDirectly").back().called_function, "Here");
}

TEST_P(CallTargetLinkTest, NamesItWhereItsAddressIsTakenToo) {
  const CompiledLibrary library(kCallsSource, GetParam());

  EXPECT_EQ(FramesOf(library, "CallDirectly").back().called_function, "Here");
}

INSTANTIATE_TEST_SUITE_P(Links, CallTargetLinkTest,
                         testing::Values("-O0 -Wl,-z,lazy", "-O2 -Wl,-z,lazy", "-O2 -Wl,-z,now",
                                         "-O2 -fno-plt", "-O2 -fno-plt -Wl,-z,now",
                                         "-O2 -fcf-protection -Wl,-z,ibtplt -Wl,-z,lazy",
                                         "-O2 -fcf-protection -Wl,-z,ibtplt -Wl,-z,now", "-O2 -s"));

TEST(CallTargetTest, NamesNothingForACallWithinTheModule) {
  const CompiledLibrary library(kCallInternal, "-O2");

  EXPECT_EQ(FramesOf(library, "CallDirectly").back().called_function, "");
}

TEST(CallTargetTest, NamesNothingForACallThroughAPointer) {
  const CompiledLibrary library(kCallsSource, "-O2");

  EXPECT_EQ(FramesOf(library, "CallByPointer").back().called_function, "");
}

TEST(CallTargetTest, TellsACallThroughAPointerFromADirectOne) {
  const CompiledLibrary library(kCallsSource, "-O2");

  EXPECT_TRUE(FramesOf(library, "CallByPointer").back().calls_through_pointer);
  EXPECT_FALSE(FramesOf(library, "CallDirectly").back().calls_through_pointer);
}

// The atexit of libc_nonshared.a, which is a part of each program, forwards so.
TEST(CallTargetTest, LooksThroughAFunctionThatOnlyForwards) {
  const CompiledLibrary library(R"(
      extern "C" __attribute__((noinline)) void* Here(void*, long) {
        return __builtin_return_address(0);
      }
      static void* volatile g_pool;
      static __attribute__((noinline)) void* Forward() { return Here(g_pool, 0); }
      extern "C" void* Call() {
        void* here = Forward();
        asm volatile("" : "+r"(here));
        return here;
      })",
                                "-O2");

  EXPECT_EQ(FramesOf(library, "Call").back().called_function, "Here");
}

TEST(CallTargetTest, CountsACallWithinTheModuleAsDirect) {
  const CompiledLibrary library(kCallInternal, "-O2");

  EXPECT_FALSE(FramesOf(library, "CallDirectly").back().calls_through_pointer);
}

// Each form of `call *` has its pointer elsewhere: in a register, in memory, or in memory at an
// offset of one or four bytes from a register or the stack pointer.
class PointerCallTest : public testing::TestWithParam<const char*> {};

TEST_P(PointerCallTest, IsToldInEachForm) {
  const CompiledLibrary library(
      R"(extern "C" void* Here() { return __builtin_return_address(0); }
      extern "C" __attribute__((naked)) void* Call() {
        asm("push %rbx; sub $512, %rsp; lea Here_address(%rip), %rbx; mov (%rbx), %r12;"
            "mov %r12, (%rsp); mov %r12, 8(%rsp); mov %r12, 256(%rsp); mov %r12, %rax;"
            ")" +
          std::string(GetParam()) + R"(; add $512, %rsp; pop %rbx; ret");
      }
      asm(".data; Here_address: .quad Here; .zero 504; .text");)",
      "-O2");

  const Frame frame = FramesOf(library, "Call").back();

  EXPECT_TRUE(frame.calls_through_pointer);
  EXPECT_EQ(frame.called_function, "");
}

INSTANTIATE_TEST_SUITE_P(Forms, PointerCallTest,
                         testing::Values("call *%rax", "call *%r12", "call *(%rbx)", "call *(%rsp)",
                                         "call *8(%rsp)", "call *256(%rsp)",
                                         "lea -8(%rbx), %rax; call *8(%rax)",
                                         "lea -256(%rbx), %r10; call *256(%r10)"));

TEST(CallTargetTest, IsToldOfTheLastFrameOfAnAddressOnly) {
  const CompiledLibrary library(kCallsSource, "-g -O2");

  const std::vector<Frame> frames = FramesOf(library, "CallInlined");

  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].called_function, "");
  EXPECT_EQ(frames[1].called_function, "Here");
}

TEST(CallTargetTest, NamesNothingAtAnAddressOutsideTheFile) {
  const CompiledLibrary library(kCallsSource, "-O2");
  const Module module = ModuleOf(library.Call("CallDirectly"));

  for (const std::uint64_t offset : {0ULL, 1ULL, 3ULL, 1ULL << 40, ~0ULL}) {
    EXPECT_EQ(Symbolizer().Symbolize(module, module.bias + offset).back().called_function, "");
  }
}

}  // namespace
}  // namespace leakgate
