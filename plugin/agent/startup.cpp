#include "plugin/agent/startup.h"

#include <cstdlib>

#include "common/control_protocol.h"
#include "plugin/agent/exec_notices.h"
#include "plugin/agent/host_functions.h"
#include "plugin/agent/linux/control_client.h"
#include "plugin/agent/linux/glibc_chunk.h"
#include "plugin/agent/linux/initial_stack.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/live_map.h"
#include "plugin/agent/own_memory.h"
#include "plugin/agent/stack_table.h"
#include "plugin/agent/thread_state.h"
#include "plugin/agent/windows.h"

namespace leakgate::agent {

constinit std::atomic<Stage> g_stage{Stage::kNotStarted};

namespace {

void Fail(AgentFailure failure) {
  RegionHeader& header = g_region.header();
  header.agent_failure.store(static_cast<std::uint32_t>(failure), std::memory_order_relaxed);
  header.agent_state.store(static_cast<std::uint32_t>(AgentState::kFailed),
                           std::memory_order_release);
}

bool MapRegion(int fd) {
  void* const tables = MapShared(fd, 0, region_offset::kChunks);
  void* const first_chunk = MapShared(fd, region_offset::kChunks, kChunkBytes);
  if (tables == nullptr) return false;
  g_region.base = static_cast<char*>(tables);
  if (first_chunk == nullptr) return false;
  NoteOwnMemory(tables, region_offset::kChunks);
  g_live_map.Start(first_chunk);
  return true;
}

void OpenProgramWindow() {
  RegionHeader& header = g_region.header();
  header.window_count.store(1, std::memory_order_relaxed);  // 0 is no window
  header.thread_count.store(1, std::memory_order_relaxed);
  header.context_count.store(1, std::memory_order_relaxed);
  header.allowance_count.store(1, std::memory_order_relaxed);
  header.module_count.store(1, std::memory_order_relaxed);
  header.text_bytes.store(1, std::memory_order_relaxed);
  OpenWindow({.kind = WindowKind::kProgram, .name = {}, .file = {}});
}

// A block allocated as the program would must be seen, and seen to go.
bool CanaryIsSeen() {
  constexpr std::size_t kCanaryBytes = 1234;
  void* volatile const canary = malloc(kCanaryBytes);
  const auto address = reinterpret_cast<std::uint64_t>(canary);
  const LiveMap::Slot slot = LiveMap::Find(address);
  const bool is_seen =
      slot != nullptr && LiveMap::IsLiveAt(slot) && LiveMap::Read(slot).size_bytes == kCanaryBytes;
  free(canary);
  return is_seen && !LiveMap::IsLiveAt(slot);
}

// What the trial left in the counters is not the program's.
void ForgetCanary() {
  for (Tally* const tally :
       {&t_thread.state->shard->allocated, &t_thread.state->shard->freed_here}) {
    tally->bytes.store(0, std::memory_order_relaxed);
    tally->blocks.store(0, std::memory_order_relaxed);
  }
}

void StartTracing(int region_fd) {
  const bool is_mapped = MapRegion(region_fd);
  CloseDescriptor(region_fd);
  if (g_region.base == nullptr) return;
  if (!is_mapped || !g_stacks.Start() || !StartThreads()) return Fail(AgentFailure::kNoMemory);

  OpenProgramWindow();
  if (!SwitchOn()) return Fail(AgentFailure::kNoMemory);
  if (!CanaryIsSeen()) {
    SwitchOff();
    return Fail(AgentFailure::kCanaryUnseen);
  }
  ForgetCanary();
  if (!g_host.allocator_is_foreign) LearnFreedMark();
  g_region.header().agent_state.store(static_cast<std::uint32_t>(AgentState::kTracing),
                                      std::memory_order_release);
}

void Start() {
  ResolveHostFunctions();
  const char* const control = InitialEnvironment(kControlVariable);
  const ControlReply reply = control == nullptr ? ControlReply{} : AskToBeTraced(control);
  // Started, before the canary asks for its route.
  g_stage.store(Stage::kStarted, std::memory_order_release);
  if (reply.region_fd >= 0) StartTracing(reply.region_fd);
  if ((reply.wants & kTellOfExecs) != 0) StartExecNotices(control, reply.window);
}

__attribute__((constructor)) void OnLoad() { (void)CurrentRoute(); }

// Exit handlers ran: the program ended in order.
__attribute__((destructor)) void OnUnload() {
  if (!IsTracing()) return;
  SettleBeforeEnd();
  g_region.header().program_end.store(static_cast<std::uint32_t>(ProgramEnd::kExit),
                                      std::memory_order_release);
}

}  // namespace

Route RouteBeforeStart() {
  Stage expected = Stage::kNotStarted;
  if (g_stage.compare_exchange_strong(expected, Stage::kStarting, std::memory_order_acq_rel)) {
    Start();
    return IsTracing() ? Route::kTrace : Route::kForward;
  }
  if (g_stage.load(std::memory_order_acquire) == Stage::kStarted) return CurrentRoute();
  return g_host.is_resolved ? Route::kForward : Route::kBootstrap;
}

}  // namespace leakgate::agent
