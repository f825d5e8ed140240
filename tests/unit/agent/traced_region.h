// A real region, mapped by the agent's code and by the runner's reader in one
// process. One for the whole test program: the agent knows no second.
#pragma once

#include <gtest/gtest.h>

#include "plugin/agent/base/region.h"
#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/record/live_map.h"
#include "plugin/agent/record/recorder.h"
#include "plugin/agent/record/stack_table.h"
#include "plugin/agent/unwind/module_table.h"
#include "plugin/agent/windows/counters.h"
#include "plugin/agent/windows/windows.h"
#include "runner/region/region_file.h"

namespace leakgate::test {

// Creates it at the first call; the agent's tables are started on it.
inline RegionFile& TracedRegion() {
  static const std::unique_ptr<RegionFile> region = [] {
    auto created = *RegionFile::Create({.pid = agent::CurrentPid()});
    const int fd = created->fd().get();
    agent::g_region.base = static_cast<char*>(agent::MapShared(fd, 0, region_offset::kChunks));
    if (!agent::g_live_map.Start(fd)) throw std::runtime_error("no memory for the live map");
    RegionHeader& header = agent::g_region.header();
    header.window_count = 1;
    header.thread_count = 1;
    header.context_count = 1;
    header.allowance_count = 1;
    header.module_count = 1;
    header.text_bytes = 1;
    if (!agent::g_stacks.Start()) throw std::runtime_error("no memory for the stack table");
    return created;
  }();
  return *region;
}

// Tests that record in it, as the agent does in a process.
class RecordingTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    TracedRegion();
    static const bool is_started = agent::StartThreads() && agent::SwitchOn();
    ASSERT_TRUE(is_started);
  }

  static const RegionReader& Reader() { return TracedRegion().reader(); }

  static std::uint32_t OpenWindow() {
    return agent::OpenWindow({.kind = WindowKind::kTest, .name = "Some.Test", .file = {}});
  }

  // Closes it without asking: there is no runner to ask.
  static void LeaveWindow(std::uint32_t window) {
    agent::SetCurrentWindow(Reader().Window(window).parent);
  }

  static void* At(std::uint64_t address) { return reinterpret_cast<void*>(address); }

  __attribute__((noinline)) static void Allocate(std::uint64_t address, std::uint64_t bytes) {
    agent::RecordAllocation(At(address), bytes, AllocationKind::kMalloc, LEAKGATE_CALLER_FRAME());
  }
};

}  // namespace leakgate::test
