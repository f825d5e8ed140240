#include "plugin/agent/thread_state.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <cstring>
#include <new>

#include "plugin/agent/linux/own_stack.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/on_switch.h"
#include "plugin/agent/own_memory.h"

namespace leakgate::agent {

thread_local constinit ThreadHandle t_thread;

namespace {

constinit SpinLock g_lock;
constinit ThreadState* g_free = nullptr;
pthread_key_t g_key;

// This thread's id in the region, kept to its very end, and how often its destructors
// have run.
thread_local constinit std::uint32_t t_id = 0;
thread_local constinit int t_destructor_rounds = 0;

constexpr std::uint32_t kSharedId = kMaxThreads - 1;

// Threads beyond the table share its last id: their blocks are recorded all
// the same, only not told apart by thread.
std::uint32_t RegisterThread(ThreadOrigin origin) {
  std::atomic<std::uint32_t>& count = g_region.header().thread_count;
  std::uint32_t id = count.load(std::memory_order_relaxed);
  while (id < kSharedId && !count.compare_exchange_weak(id, id + 1, std::memory_order_release)) {
  }
  if (id >= kSharedId) return kSharedId;

  ThreadRecord& record = g_region.threads()[id];
  record.tid = CurrentTid();
  record.birth_window = origin.birth_window;
  record.parent = origin.parent;
  record.origin_stack = origin.stack;
  record.pointer = reinterpret_cast<std::uint64_t>(__builtin_thread_pointer());
  return id;
}

// The C library may allocate for the key: not the host's.
void AskForEnd() {
  const Activity before = t_thread.activity;
  t_thread.Become(Activity::kAllocator);
  pthread_setspecific(g_key, &t_id);
  t_thread.Become(before);
}

void Register(ThreadOrigin origin) {
  t_id = RegisterThread(origin);
  AskForEnd();
}

void NoteEnd() {
  if (t_id == kSharedId) return;
  ThreadRecord& record = g_region.threads()[t_id];
  char name[sizeof(record.name)] = {};
  RawSyscall(SYS_prctl, PR_GET_NAME, Word(name));
  std::memcpy(record.name, name, sizeof(name));
  // Release: the runner that sees the end sees the name.
  record.has_ended.store(1, std::memory_order_release);
}

ThreadState* TakeFree() {
  const SpinGuard guard(g_lock);
  ThreadState* const state = g_free;
  if (state != nullptr) g_free = state->next_free;
  return state;
}

ThreadState* Create() {
  std::atomic<std::uint32_t>& count = g_region.header().shard_count;
  void* const memory = MapOwn(sizeof(ThreadState));
  if (memory == nullptr) return nullptr;

  std::uint32_t index = 0;
  {
    const SpinGuard guard(g_lock);
    index = count.load(std::memory_order_relaxed);
    if (index >= kMaxShards) return nullptr;
    // Release: the runner and window sums acquire the count.
    count.store(index + 1, std::memory_order_release);
  }
  auto* const state = new (memory) ThreadState;
  state->shard = &g_region.shards()[index];
  return state;
}

void GiveBack(ThreadState* state) {
  t_thread = {};
  state->shard->owner_tid.store(0, std::memory_order_relaxed);
  const SpinGuard guard(g_lock);
  state->next_free = g_free;
  g_free = state;
}

#ifdef __SANITIZE_THREAD__
// Unit tests only: in the last round, the sanitizer lets the thread go itself.
constexpr int kRounds = PTHREAD_DESTRUCTOR_ITERATIONS - 1;
#else
constexpr int kRounds = PTHREAD_DESTRUCTOR_ITERATIONS;
#endif

// Other destructors may still allocate: stay until the last round.
void OnThreadEnd(void* value) {
  if (!IsTracing()) return;
  if (++t_destructor_rounds < kRounds) {
    pthread_setspecific(g_key, value);
    return;
  }
  NoteEnd();
  if (t_thread.state != nullptr) GiveBack(t_thread.state);
}

void Take(ThreadState& state) {
  state.thread = t_id;
  state.walker.Begin(OwnStack::OfThisThread(), g_region.header().stack_depth);
  state.epoch = 0;
  state.context = 0;
  state.memo.Forget();
  state.trail.depth = 0;
  state.opening_window = 0;
  state.closing_window = 0;
  state.ended_iteration = 0;
  state.shard->owner_tid.store(CurrentTid(), std::memory_order_relaxed);
  t_thread.state = &state;
  t_thread.Become(Activity::kHost);
}

}  // namespace

bool StartThreads() { return pthread_key_create(&g_key, OnThreadEnd) == 0; }

void BeginThread(ThreadOrigin origin) {
  if (t_id == 0) Register(origin);
}

bool EnsureThread() {
  if (t_thread.state != nullptr) return true;
  if (t_id == 0) {
    Register({.birth_window = g_region.header().current_window.load(std::memory_order_relaxed)});
  }
  ThreadState* state = TakeFree();
  if (state == nullptr) state = Create();
  if (state == nullptr) {
    g_region.Drop(DropReason::kNoThreadState);
    return false;
  }
  Take(*state);
  return true;
}

}  // namespace leakgate::agent
