// Frees that must not be: found, told once, and never where they are legal.
#include "plugin/agent/record/free_errors.h"

#include <gmock/gmock.h>

#include <optional>

#include "plugin/agent/host/host_functions.h"
#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/record/recorder.h"
#include "plugin/agent/windows/windows.h"
#include "tests/unit/agent/traced_region.h"

extern "C" {
void* __libc_malloc(std::size_t size);
void __libc_free(void* block);
}

namespace leakgate::test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class FreeErrorsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    TracedRegion();
    static const bool is_started = agent::StartThreads() && agent::SwitchOn();
    ASSERT_TRUE(is_started);
  }
  void SetUp() override {
    agent::g_host.operators = agent::OperatorSource::kRuntime;
    agent::g_host.operators_are_ours = true;
    window_ = agent::OpenWindow({.kind = WindowKind::kTest, .name = "Frees.Test", .file = {}});
  }
  void TearDown() override {
    agent::SetCurrentWindow(TracedRegion().reader().Window(window_).parent);
    agent::g_host.operators = agent::OperatorSource::kNone;
    agent::g_host.operators_are_ours = false;
  }

  static void* At(std::uint64_t address) { return reinterpret_cast<void*>(address); }
  __attribute__((noinline)) static void Allocate(std::uint64_t address, AllocationKind kind) {
    agent::RecordAllocation(At(address), 40, kind, LEAKGATE_CALLER_FRAME());
  }
  __attribute__((noinline)) static void Free(std::uint64_t address, FreeKind kind) {
    // As the interposed functions do.
    if (agent::RecordFreeHere(At(address), kind)) return;
    agent::RecordFree(At(address), {kind, LEAKGATE_CALLER_FRAME()});
  }

  std::vector<FreeErrorCopy> Errors() const {
    std::vector<FreeErrorCopy> mine;
    for (const FreeErrorCopy& error : TracedRegion().reader().FreeErrors()) {
      if (error.window == window_) mine.push_back(error);
    }
    return mine;
  }

  std::uint32_t window_ = 0;
};

TEST_F(FreeErrorsTest, TellsABlockOfMallocThatIsDeleted) {
  Allocate(0x5000'0000, AllocationKind::kMalloc);
  Free(0x5000'0000, FreeKind::kDelete);
  const std::vector<FreeErrorCopy> errors = Errors();
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_EQ(errors[0].kind, FreeErrorKind::kMismatched);
  EXPECT_EQ(errors[0].free_kind, FreeKind::kDelete);
  EXPECT_EQ(errors[0].allocation_kind, AllocationKind::kMalloc);
  EXPECT_EQ(errors[0].address, 0x5000'0000U);
  EXPECT_EQ(errors[0].size_bytes, 40U);
  const RegionReader& reader = TracedRegion().reader();
  EXPECT_GT(reader.Stack(errors[0].free_stack).frames.size(), 2U);
  EXPECT_GT(reader.Stack(errors[0].allocation_stack).frames.size(), 2U);
}

TEST_F(FreeErrorsTest, TellsEveryPairOfFamiliesApart) {
  Allocate(0x5001'0000, AllocationKind::kNew);
  Free(0x5001'0000, FreeKind::kFree);
  Allocate(0x5001'0000, AllocationKind::kNew);
  Free(0x5001'0000, FreeKind::kDeleteArray);
  Allocate(0x5001'0000, AllocationKind::kNewArray);
  Free(0x5001'0000, FreeKind::kDelete);
  Allocate(0x5001'0000, AllocationKind::kNewArray);
  Free(0x5001'0000, FreeKind::kRealloc);
  EXPECT_THAT(Errors(), SizeIs(4));
}

TEST_F(FreeErrorsTest, TellsNothingOfWhatIsFreedAsItShould) {
  for (const AllocationKind kind : {AllocationKind::kMalloc, AllocationKind::kCalloc,
                                    AllocationKind::kRealloc, AllocationKind::kMemalign}) {
    Allocate(0x5002'0000, kind);
    Free(0x5002'0000, FreeKind::kFree);
    Allocate(0x5002'0000, kind);
    Free(0x5002'0000, FreeKind::kRealloc);
  }
  Allocate(0x5002'0000, AllocationKind::kNew);
  Free(0x5002'0000, FreeKind::kDelete);
  Allocate(0x5002'0000, AllocationKind::kNewArray);
  Free(0x5002'0000, FreeKind::kDeleteArray);
  EXPECT_THAT(Errors(), IsEmpty());
}

TEST_F(FreeErrorsTest, TellsNoMismatchWhereTheProgramHasOperatorsOfItsOwn) {
  agent::g_host.operators_are_ours = false;
  Allocate(0x5003'0000, AllocationKind::kMalloc);
  Free(0x5003'0000, FreeKind::kDelete);
  agent::g_host.operators_are_ours = true;
  agent::g_host.operators = agent::OperatorSource::kProgram;
  Allocate(0x5003'0000, AllocationKind::kMalloc);
  Free(0x5003'0000, FreeKind::kDelete);
  EXPECT_THAT(Errors(), IsEmpty());
}

TEST_F(FreeErrorsTest, CountsAMismatchedFreeAsAFreeAllTheSame) {
  Allocate(0x5004'0000, AllocationKind::kMalloc);
  Free(0x5004'0000, FreeKind::kDelete);
  EXPECT_EQ(agent::SumWindow(window_).blocks, 0);
}

TEST_F(FreeErrorsTest, TellsAnErrorThatRepeatsOnce) {
  for (int i = 0; i < 100; ++i) {
    Allocate(0x5005'0000, AllocationKind::kMalloc);
    Free(0x5005'0000, FreeKind::kDelete);
  }
  EXPECT_THAT(Errors(), SizeIs(1));
}

TEST_F(FreeErrorsTest, TellsADoubleFree) {
  Allocate(0x5006'0000, AllocationKind::kMalloc);
  Free(0x5006'0000, FreeKind::kFree);
  Free(0x5006'0000, FreeKind::kFree);
  const std::vector<FreeErrorCopy> errors = Errors();
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_EQ(errors[0].kind, FreeErrorKind::kDouble);
  EXPECT_EQ(errors[0].size_bytes, 40U);
  EXPECT_EQ(errors[0].allocation_stack, 0U);
}

TEST_F(FreeErrorsTest, TellsNothingOfABlockThatWasNeverRecorded) {
  Allocate(0x5007'0000, AllocationKind::kMalloc);  // so that the chunk is there
  Free(0x5007'1000, FreeKind::kFree);
  Free(0x5007'0000, FreeKind::kFree);
  EXPECT_THAT(Errors(), IsEmpty());
}

// What was allocated past the agent at an address that it once knew. glibc's own
// block: a sanitizer's allocator keeps no chunk before a block to look at.
TEST_F(FreeErrorsTest, TellsNothingOfABlockThatTheAllocatorHasHandedOut) {
  void* const block = __libc_malloc(64);
  const auto address = reinterpret_cast<std::uint64_t>(block);
  Allocate(address, AllocationKind::kMalloc);
  Free(address, FreeKind::kFree);
  Free(address, FreeKind::kFree);
  __libc_free(block);
  EXPECT_THAT(Errors(), IsEmpty());
}

}  // namespace
}  // namespace leakgate::test
