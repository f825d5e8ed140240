#include "plugin/agent/start/startup.h"

#include <dlfcn.h>
#include <time.h>

#include <cstdlib>
#include <cstring>

#include "common/control_protocol.h"
#include "plugin/agent/base/region.h"
#include "plugin/agent/events/event_writer.h"
#include "plugin/agent/exec/exec_notices.h"
#include "plugin/agent/host/bootstrap_heap.h"
#include "plugin/agent/host/glibc_chunk.h"
#include "plugin/agent/host/host_functions.h"
#include "plugin/agent/host/signal_stack.h"
#include "plugin/agent/linux/control_client.h"
#include "plugin/agent/linux/initial_stack.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/mappings/mapping_table.h"
#include "plugin/agent/record/canary.h"
#include "plugin/agent/record/free_errors.h"
#include "plugin/agent/record/live_map.h"
#include "plugin/agent/record/pools.h"
#include "plugin/agent/record/recorder.h"
#include "plugin/agent/record/stack_table.h"
#include "plugin/agent/record/thread_start.h"
#include "plugin/agent/start/entry_hooks.h"
#include "plugin/agent/threads/thread_state.h"
#include "plugin/agent/unwind/module_table.h"
#include "plugin/agent/windows/allowances.h"
#include "plugin/agent/windows/measuring_windows.h"
#include "plugin/agent/windows/windows.h"

namespace leakgate::agent {

constinit std::atomic<Stage> g_stage{Stage::kNotStarted};

namespace {

void Fail(RegionHeader& header, AgentFailure failure) {
  header.agent_failure.store(static_cast<std::uint32_t>(failure), std::memory_order_relaxed);
  header.agent_state.store(static_cast<std::uint32_t>(AgentState::kFailed),
                           std::memory_order_release);
}

void Fail(AgentFailure failure) { Fail(g_region.header(), failure); }

// Mostly there is still room for one page. Otherwise the region looks as if the agent has not
// started.
void ReportNoMemory(int fd) {
  constexpr std::size_t kHeaderBytes = 4096;
  void* const page = MapShared(fd, 0, kHeaderBytes);
  if (page == nullptr) return;
  Fail(*static_cast<RegionHeader*>(page), AgentFailure::kNoMemory);
  RawSyscall(SYS_munmap, Word(page), kHeaderBytes);
}

// Maps the region where an earlier one was, if there was one.
bool MapRegion(int fd) {
  void* const tables = MapSharedAt(g_region.base, fd, 0, region_offset::kChunks);
  if (tables == nullptr) {
    ReportNoMemory(fd);
    return false;
  }
  g_region.base = static_cast<char*>(tables);
  NoteOwnMemory(tables, region_offset::kChunks);
  return g_live_map.Start(fd) && StartEvents(fd);
}

std::uint64_t WallTime() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// Starts everything that is kept from one region to the next.
bool StartTables() {
  g_modules.Restart();
  RestartAllowances();
  RestartFreeErrors();
  RestartPools();
  g_mappings.Restart();
  RestartMeasuringWindows();
  return g_stacks.Start() && StartThreads();
}

void OpenProgramWindow() {
  RegionHeader& header = g_region.header();
  header.has_own_operators = g_host.operators == OperatorSource::kProgram ? 1 : 0;
  header.kept_ranges[0] = MemoryOfTickets();
  header.kept_ranges[1] = bootstrap_heap::Memory();
  header.kept_ranges[kKeptSignalStacks] = MemoryOfSignalStacks();
  StartWindows();
}

constexpr std::size_t kCanaryBytes = 1234;

// The functions to which the program's calls lead. The agent's own calls are bound to itself. They
// are looked up once, because the dynamic linker may be locked in a fork child.
struct ProgramsOwn {
  void* (*malloc)(std::size_t);
  void (*free)(void*);
};

const ProgramsOwn& AsTheProgramFinds() {
  static constinit ProgramsOwn found{};
  if (found.malloc == nullptr) {
    found.malloc = reinterpret_cast<void* (*)(std::size_t)>(g_host.dlsym(RTLD_DEFAULT, "malloc"));
    found.free = reinterpret_cast<void (*)(void*)>(g_host.dlsym(RTLD_DEFAULT, "free"));
  }
  return found;
}

// Allocates as the program would. If the agent was loaded late, calls are not found by name. Then
// the C library allocates, whose calls are redirected.
void* AllocateCanary() {
  if (!IsLoadedLate()) return AsTheProgramFinds().malloc(kCanaryBytes);
  char text[kCanaryBytes];
  std::memset(text, 'c', sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  return strdup(text);
}

void FreeCanary(void* canary) {
  if (IsLoadedLate()) return free(canary);
  AsTheProgramFinds().free(canary);
}

void Start() {
  ResolveHostFunctions();
  // The runner tells a late agent whom to ask.
  const char* const control = IsLoadedLate() ? nullptr : InitialEnvironment(kControlVariable);
  const ControlReply reply = control == nullptr ? ControlReply{} : AskToBeTraced(control);
  // This is set before the canary asks for its route.
  g_stage.store(Stage::kStarted, std::memory_order_release);
  if (reply.region_fd >= 0) StartTracing(reply.region_fd, TracingBegin::kWithTheProcess);
  if ((reply.wants & kNotifyExecs) != 0) StartExecNotices(control, reply.window);
  if (IsTracing() && (reply.wants & kTraceForks) != 0) TraceForks(control);
  NoteStarted();
}

__attribute__((constructor)) void OnLoad() { (void)CurrentRoute(); }

// If exit handlers run, the program has ended normally.
__attribute__((destructor)) void OnUnload() {
  if (!IsTracing()) return;
  SettleBeforeEnd();
  AnnounceEndOfDestructors();
  g_region.header().program_end.store(static_cast<std::uint32_t>(ProgramEnd::kExit),
                                      std::memory_order_release);
}

}  // namespace

void StartTracing(int region_fd, TracingBegin begin) {
  const bool is_mapped = MapRegion(region_fd);
  CloseDescriptor(region_fd);
  if (g_region.base == nullptr) return;
  if (!is_mapped || !StartTables()) return Fail(AgentFailure::kNoMemory);
  if (begin == TracingBegin::kAttached) {
    g_region.header().attached_at_ns.store(WallTime(), std::memory_order_relaxed);
  }
  if (!HookEntries()) return Fail(AgentFailure::kEntriesNotHooked);
  OpenProgramWindow();
  if (!SwitchOn(g_region.header().stack_events, EventsAsked())) {
    return Fail(AgentFailure::kNoMemory);
  }
  if (!IsCanarySeen(AllocateCanary(), kCanaryBytes, FreeCanary)) {
    SwitchOff();
    return Fail(AgentFailure::kCanaryUnseen);
  }
  BeginEvents();
  if (!g_host.allocator_is_foreign) LearnFreedMark();
  g_region.header().agent_state.store(static_cast<std::uint32_t>(AgentState::kTracing),
                                      std::memory_order_release);
}

void ReleaseRegion() {
  g_live_map.ParkChunks();
  ParkEvents();
  Park(g_region.base, region_offset::kChunks);
}

void ForgetRegion() {
  g_live_map.ForgetChunks();
  ForgetEvents();
  g_region.base = nullptr;
}

Route RouteBeforeStart() {
  const Stage stage = g_stage.load(std::memory_order_acquire);
  if (stage == Stage::kUntracedCall || stage == Stage::kForks) {
    if (TraceIfForked(ForkOccasion::kAllocation)) return Route::kTrace;
    if (stage == Stage::kForks) return Route::kForward;
    if (RunSlowPathCall()) g_stage.store(Stage::kStarted, std::memory_order_release);
    return Route::kForward;
  }
  Stage expected = Stage::kNotStarted;
  if (g_stage.compare_exchange_strong(expected, Stage::kStarting, std::memory_order_acq_rel)) {
    Start();
    return IsTracing() ? Route::kTrace : Route::kForward;
  }
  if (g_stage.load(std::memory_order_acquire) == Stage::kStarted) return CurrentRoute();
  return AreHostsResolved() ? Route::kForward : Route::kBootstrap;
}

}  // namespace leakgate::agent
