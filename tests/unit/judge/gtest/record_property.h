// A block of GoogleTest's own. This file lies in a folder named gtest, and its function is one that
// GoogleTest has as well, with other parameters: by both the framework's code is told.
#pragma once

#include "plugin/agent/record/recorder.h"

namespace leakgate::test {

// Records a block as the agent does, with the stack from the caller on.
__attribute__((noinline)) inline void RecordBlock(std::uint64_t address, std::uint64_t bytes) {
  agent::RecordAllocation(reinterpret_cast<void*>(address), bytes, AllocationKind::kMalloc,
                          LEAKGATE_CALLER_FRAME());
}

}  // namespace leakgate::test

namespace testing::internal {

struct UnitTestImpl {
  __attribute__((noinline)) static void RecordProperty(std::uint64_t address, std::uint64_t bytes) {
    leakgate::test::RecordBlock(address, bytes);
    asm volatile("");  // keeps this function on the stack
  }
};

}  // namespace testing::internal
