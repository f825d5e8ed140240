#include "runner/symbols/call_target.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runner/symbols/symbolizer.h"
#include "tests/unit/symbols/compiled_library.h"

namespace leakgate {
namespace {

// Each Call... returns the address that its call to Here returns to.
constexpr char kSource[] = R"(
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

std::vector<Frame> FramesOf(const CompiledLibrary& library, const char* function) {
  const std::uint64_t pc = library.Call(function);
  return Symbolizer().Symbolize(ModuleOf(pc), pc);
}

class CallTargetLinkTest : public testing::TestWithParam<const char*> {};

TEST_P(CallTargetLinkTest, NamesTheExportedFunctionThatIsCalled) {
  const CompiledLibrary library(kCallThroughTheStubOnly, GetParam());

  EXPECT_EQ(FramesOf(library, "CallDirectly").back().called_function, "Here");
}

TEST_P(CallTargetLinkTest, NamesItWhereItsAddressIsTakenToo) {
  const CompiledLibrary library(kSource, GetParam());

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
  const CompiledLibrary library(kSource, "-O2");

  EXPECT_EQ(FramesOf(library, "CallByPointer").back().called_function, "");
}

TEST(CallTargetTest, IsToldOfTheLastFrameOfAnAddressOnly) {
  const CompiledLibrary library(kSource, "-g -O2");

  const std::vector<Frame> frames = FramesOf(library, "CallInlined");

  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].called_function, "");
  EXPECT_EQ(frames[1].called_function, "Here");
}

TEST(CallTargetTest, NamesNothingAtAnAddressOutsideTheFile) {
  const CompiledLibrary library(kSource, "-O2");
  const Module module = ModuleOf(library.Call("CallDirectly"));

  for (const std::uint64_t offset : {0ULL, 1ULL, 3ULL, 1ULL << 40, ~0ULL}) {
    EXPECT_EQ(Symbolizer().Symbolize(module, module.bias + offset).back().called_function, "");
  }
}

}  // namespace
}  // namespace leakgate
