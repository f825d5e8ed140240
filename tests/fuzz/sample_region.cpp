#include "tests/fuzz/sample_region.h"

#include "plugin/agent/mappings/mapping_table.h"
#include "plugin/agent/record/free_errors.h"
#include "plugin/agent/windows/allowances.h"
#include "plugin/agent/windows/measuring_windows.h"
#include "tests/unit/agent/traced_region.h"

namespace leakgate::fuzz {
namespace {

constexpr std::uint64_t kHeapBegin = 0x6000'0000;

__attribute__((noinline)) void Allocate(std::uint64_t address, std::uint64_t bytes,
                                        AllocationKind kind) {
  agent::RecordAllocation(reinterpret_cast<void*>(address), bytes, kind, LEAKGATE_CALLER_FRAME());
}

__attribute__((noinline)) void Free(std::uint64_t address) {
  void* const block = reinterpret_cast<void*>(address);
  const agent::FreeCall call{FreeKind::kFree, LEAKGATE_CALLER_FRAME()};
  if (!agent::RecordFreeHere(block, call.kind)) agent::RecordFree(block, call);
}

void AllocateSome(std::uint64_t begin) {
  for (std::uint64_t i = 0; i < 8; ++i) {
    Allocate(begin + i * 0x400, 40 + i * 100, static_cast<AllocationKind>(1 + i % 5));
  }
}

void GiveAllowances(agent::Recording recording) {
  const agent::GivenAllowance given{"a cache", "cache.cpp", 17, -1, 4};
  const std::uint32_t before = agent::BeginAllowance(recording, given);
  Allocate(kHeapBegin + 0x10'0000, 1000, AllocationKind::kNew);
  agent::RestoreAllowance(recording, before);
  agent::ExpectOutstanding(recording, given);
}

void AddMappings(agent::Recording recording) {
  const std::uint32_t context = agent::ContextNow(recording);
  for (std::uint64_t i = 0; i < 4; ++i) {
    const std::uint64_t begin = 0x1000'0000'0000 + i * 0x2'0000;
    agent::g_mappings.Add({begin, begin + 0x1'0000}, {kStackRootCount, context, 1},
                          {AllocationKind::kMapped, 3});
  }
}

void NoteErrors(std::uint32_t window) {
  agent::NoteFreeError({.kind = static_cast<std::uint32_t>(FreeErrorKind::kMismatched),
                        .free_kind = static_cast<std::uint32_t>(FreeKind::kDelete),
                        .window = window,
                        .thread = 1,
                        .free_stack = kStackRootCount + 1,
                        .allocation_stack = kStackRootCount,
                        .allocation_kind = static_cast<std::uint32_t>(AllocationKind::kMalloc),
                        .reserved = 0,
                        .address = kHeapBegin,
                        .size_bytes = 40});
}

// Windows are left open: there is no runner to ask.
void RecordATest(std::uint32_t number) {
  const std::uint64_t heap = kHeapBegin + number * 0x100'0000ULL;
  const std::uint32_t outer =
      agent::OpenWindow({.kind = WindowKind::kSuite, .name = "Suite", .file = {}});
  agent::SetCurrentWindow(outer);
  AllocateSome(heap + 0x1'0000);
  const std::uint32_t test = agent::OpenWindow(
      {.kind = WindowKind::kTest, .name = "Suite.Test", .file = "suite_test.cpp", .line = 12});
  agent::SetCurrentWindow(test);
  AllocateSome(heap);
  Free(heap + 0x1'0000);
  const agent::RecordingGuard guard;
  (void)agent::OpenMeasuringWindow(guard, {.name = "parsing", .file = "parse.cpp", .line = 3});
  GiveAllowances(guard);
  AddMappings(guard);
  NoteErrors(test);
}

}  // namespace

RegionFile& SampleRegion() {
  static RegionFile& region = []() -> RegionFile& {
    RegionFile& created = test::TracedRegion();
    if (!agent::StartThreads() || !agent::SwitchOn() || !agent::CanRecord()) __builtin_trap();
    (void)agent::OpenWindow({.kind = WindowKind::kProgram, .name = {}, .file = {}});
    for (std::uint32_t i = 0; i < 3; ++i) RecordATest(i);
    return created;
  }();
  return region;
}

}  // namespace leakgate::fuzz
