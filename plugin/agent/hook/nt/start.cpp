// The agent's library is initialised: before all others, where the runner has led the image's
// import directory (common/nt_agent_block.h). From there to tracing:
//
//   1 find the block in front of the import descriptors, or in the image's own section
//   2 put the import directory back as it was
//   3 map the region, start the tables
//   4 install the hooks, trace a trial allocation     if it is not recorded, nothing is traced
//   5 report the result through the region
//
// Without a block, the agent stays off.
#include <windows.h>

#include "common/nt_agent_block.h"
#include "plugin/agent/api/boundary.h"
#include "plugin/agent/events/event_writer.h"
#include "plugin/agent/hook/nt/exit_hooks.h"
#include "plugin/agent/hook/nt/heap_hooks.h"
#include "plugin/agent/hook/nt/heap_walk.h"
#include "plugin/agent/hook/nt/process_hooks.h"
#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/mappings/mapping_table.h"
#include "plugin/agent/nt/image.h"
#include "plugin/agent/nt/library_list.h"
#include "plugin/agent/nt/ntdll.h"
#include "plugin/agent/nt/runner_wait.h"
#include "plugin/agent/nt/syscall.h"
#include "plugin/agent/record/canary.h"
#include "plugin/agent/record/free_errors.h"
#include "plugin/agent/record/live_map.h"
#include "plugin/agent/record/pools.h"
#include "plugin/agent/record/stack_table.h"
#include "plugin/agent/threads/thread_state.h"
#include "plugin/agent/unwind/module_table.h"
#include "plugin/agent/windows/allowances.h"
#include "plugin/agent/windows/measuring_windows.h"
#include "plugin/agent/windows/windows.h"

namespace leakgate::agent {
namespace {

bool IsBlock(const NtAgentBlock* block) {
  return block != nullptr && block->magic == kNtAgentMagic &&
         block->layout_version == kLayoutVersion;
}

// Returns nullptr if the process is not to be traced.
const NtAgentBlock* FindBlock(const Image& program) {
  const std::uint32_t imports = program.directory(IMAGE_DIRECTORY_ENTRY_IMPORT).offset;
  // The runner's block is above the image, within the 4 GiB that an offset reaches.
  if (imports >= program.bytes()) {
    const auto* const block =
        reinterpret_cast<const NtAgentBlock*>(program.base() + imports - kNtAgentBlockRoom);
    if (IsBlock(block)) return block;
  }
  const auto* const block =
      program.At<const NtAgentBlock>(program.FindSection(kNtAgentSection).offset);
  return IsBlock(block) ? block : nullptr;
}

void PutBack(const Image& program, std::uint32_t index, const NtDirectory& directory) {
  Image::Directory* const place = program.PlaceOfDirectory(index);
  if (place == nullptr) return;
  DWORD before = 0;
  if (::VirtualProtect(place, sizeof(*place), PAGE_READWRITE, &before) == 0) return;
  *place = {directory.offset, directory.bytes};
  ::VirtualProtect(place, sizeof(*place), before, &before);
}

void Fail(AgentFailure failure) {
  RegionHeader& header = g_region.header();
  header.agent_failure.store(static_cast<std::uint32_t>(failure), std::memory_order_relaxed);
  header.agent_state.store(static_cast<std::uint32_t>(AgentState::kFailed),
                           std::memory_order_release);
}

// Set once threads can be told apart.
constinit bool g_has_threads = false;

bool StartTables() {
  constexpr int kNoDescriptor = -1;
  g_has_threads = PrepareThreadLocals();
  if (!g_has_threads || !g_live_map.Start(kNoDescriptor)) return false;
  if (!StartEvents(kNoDescriptor)) return false;
  g_modules.Restart();
  RestartAllowances();
  RestartFreeErrors();
  RestartPools();
  g_mappings.Restart();
  RestartMeasuringWindows();
  return g_stacks.Start() && StartThreads();
}

// The agent's own data: what it keeps of the program's blocks must not hold them.
void NoteOwnImage(const Image& agent) {
  NoteOwnMemory(reinterpret_cast<const void*>(agent.base()), agent.bytes());
}

// The runner cannot ask this of another process.
void NoteEncodedPointers() {
  const auto encode = [](std::uint64_t address) {
    return reinterpret_cast<std::uint64_t>(::EncodePointer(reinterpret_cast<void*>(address)));
  };
  g_region.header().encoded_pointers = {.of_zero = encode(0), .of_one = encode(1)};
}

constexpr std::size_t kCanaryBytes = 1234;

void FreeCanary(void* canary) { ::LocalFree(canary); }

void StartTracing(const NtAgentBlock& block, std::uint64_t agent) {
  if (!FindNtdll()) return;
  char* const region = MapSection(block.region);
  if (region == nullptr) return;
  g_region.BeginAt(region);
  KeepHandles(block);
  NoteOwnMemory(g_region.base, region_offset::kEnd);
  NoteOwnImage(Image(agent));
  NoteEncodedPointers();
  g_on_wake = WalkHeapsIfWanted;
  g_on_library_gone = [] { g_modules.ModulesMayHaveGone(); };
  if (!StartLibraryList() || !StartTables()) return Fail(AgentFailure::kNoMemory);
  StartWindows();
  if (!InstallHeapHooks(agent)) return Fail(AgentFailure::kNoMemory);
  InstallExitHooks(agent);
  InstallProcessHooks(agent);
  if (!SwitchOn(g_region.header().stack_events, EventsAsked())) {
    return Fail(AgentFailure::kNoMemory);
  }
  if (!IsCanarySeen(::LocalAlloc(LMEM_FIXED, kCanaryBytes), kCanaryBytes, FreeCanary)) {
    SwitchOff();
    return Fail(AgentFailure::kCanaryUnseen);
  }
  BeginEvents();
  g_region.header().agent_state.store(static_cast<std::uint32_t>(AgentState::kTracing),
                                      std::memory_order_release);
}

void Start(HINSTANCE agent) {
  const Image program(reinterpret_cast<std::uint64_t>(::GetModuleHandleW(nullptr)));
  const NtAgentBlock* const found = FindBlock(program);
  if (found == nullptr) return;
  const NtAgentBlock block = *found;
  if (block.restores_imports != 0) {
    PutBack(program, IMAGE_DIRECTORY_ENTRY_IMPORT, block.imports);
    PutBack(program, IMAGE_DIRECTORY_ENTRY_BOUND_IMPORT, block.bound_imports);
  }
  StartTracing(block, reinterpret_cast<std::uint64_t>(agent));
}

// Libraries are detached when the process exits. All other threads have been ended then, and
// destructors of static objects have run: unless the end was announced before, nobody can tell any
// more what they held.
void EndOfProcess() {
  if (!IsTracing()) return;
  SettleBeforeEnd();
  const bool is_missed = HasMissedProcessEnd();
  if (!is_missed) AnnounceEndOfDestructors();
  const ProgramEnd end = is_missed ? ProgramEnd::kUnannounced : ProgramEnd::kExit;
  g_region.header().program_end.store(static_cast<std::uint32_t>(end), std::memory_order_release);
}

}  // namespace

bool TraceAtBoundary() { return false; }

void PrepareBoundary() {}

bool MayHaveLostStatics() { return g_ntdll.is_shutting_down() != 0; }

}  // namespace leakgate::agent

extern "C" BOOL WINAPI leakgate_library_entry(HINSTANCE agent, DWORD reason, void* is_exit) {
  using namespace leakgate::agent;
  if (reason == DLL_PROCESS_ATTACH) Start(agent);
  if (reason == DLL_THREAD_DETACH && g_has_threads) {
    EndThread();
    EndThreadLocals();
  }
  if (reason == DLL_PROCESS_DETACH && is_exit != nullptr) EndOfProcess();
  return TRUE;
}
