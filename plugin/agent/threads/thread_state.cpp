#include "plugin/agent/threads/thread_state.h"

#include <cstring>
#include <new>

#include "common/system.h"
#include "plugin/agent/base/region.h"
#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/threads/thread_end.h"
#include "plugin/agent/threads/thread_stack.h"

#include LEAKGATE_AGENT(own_stack)
#include LEAKGATE_AGENT(syscall)

namespace leakgate::agent {

namespace {

constinit SpinLock g_lock;
constinit ThreadState* g_free = nullptr;
constinit ThreadState* g_all = nullptr;
constinit int g_pid = 0;  // the process that is traced, not a fork child of it

constexpr std::uint32_t kSharedId = kMaxThreads - 1;

// Threads beyond the table share its last id: their blocks are recorded, but not distinguished by
// thread.
std::uint32_t RegisterThread(ThreadOrigin origin) {
  std::atomic<std::uint32_t>& count = g_region.header().thread_count;
  std::uint32_t id = count.load(std::memory_order_relaxed);
  while (id < kSharedId && !count.compare_exchange_weak(id, id + 1, std::memory_order_relaxed)) {
  }
  if (id >= kSharedId || !MakeRoom(&g_region.threads()[id], sizeof(ThreadRecord))) return kSharedId;

  ThreadRecord& record = g_region.threads()[id];
  record.birth_window = origin.birth_window;
  record.parent = origin.parent;
  record.origin_stack = origin.stack;
  record.pointer = OwnThreadPointer();
  // The tid is stored last, with release: a record without a tid is not complete yet, though it is
  // counted.
  std::atomic_ref(record.tid).store(CurrentTid(), std::memory_order_release);
  return id;
}

// The C library may allocate meanwhile: this does not count as the host's allocation.
void AskForEnd() {
  const Activity before = t_thread.activity;
  t_thread.SetActivity(Activity::kAllocator);
  AskForThreadEnd();
  t_thread.SetActivity(before);
}

void Register(ThreadOrigin origin) {
  t_facts.id = RegisterThread(origin);
  t_facts.span = g_span;
  AskForEnd();
}

void NoteEnd() {
  if (t_facts.span != g_span || t_facts.id == kSharedId) return;
  ThreadRecord& record = g_region.threads()[t_facts.id];
  char name[sizeof(record.name)] = {};
  ReadThreadName(name);
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
  void* const memory = MapOwn(sizeof(ThreadState));
  if (memory == nullptr) return nullptr;
  auto* const state = new (memory) ThreadState;
  const SpinGuard guard(g_lock);
  state->next = g_all;
  g_all = state;
  return state;
}

// Returns nullptr if all are taken.
CounterShard* TakeShard() {
  std::atomic<std::uint32_t>& count = g_region.header().shard_count;
  const SpinGuard guard(g_lock);
  const std::uint32_t index = count.load(std::memory_order_relaxed);
  if (index >= kMaxShards) return nullptr;
  // Release: the runner and window sums acquire the count.
  count.store(index + 1, std::memory_order_release);
  return &g_region.shards()[index];
}

[[nodiscard]] bool HasShard(ThreadState& state) {
  if (state.shard == nullptr) state.shard = TakeShard();
  return state.shard != nullptr;
}

void ReleaseState(ThreadState* state) {
  t_thread = {};
  const bool is_counting = IsTracing() && state->span == g_span && state->shard != nullptr;
  if (is_counting) {
    if (RecordsEvents()) {
      NoteOther(EventThreadOf(*state), OtherEvent::kThreadEnds, 0);
      LeaveEventBuffer(state->events);
    }
    state->shard->owner_tid.store(0, std::memory_order_relaxed);
  }
  const SpinGuard guard(g_lock);
  state->owner = nullptr;
  state->next_free = g_free;
  g_free = state;
}

// Threads that are created one after the other mostly get the same stack. Then what the memo proves
// for the thread before is proved for this one as well: the words are compared with those of this
// thread's stack, and the frames that are not compared are the C library's, which began both.
void BeginMemo(ThreadState& state, const OwnStack& own_stack) {
  const bool is_of_same_stack = state.span == g_span && state.walker.HasWalkedOn(own_stack) &&
                                state.memo.BeginsAt(t_facts.first_frame);
  if (!is_of_same_stack) state.memo.Forget();
  state.memo.BeginAt(t_facts.first_frame);
}

void Take(ThreadState& state) {
  // For the runner, threads beyond the table are one: what one of them has made serves all.
  const bool is_alike =
      state.span == g_span && state.thread == kSharedId && t_facts.id == kSharedId;
  if (!is_alike) {
    for (KnownContext& known : state.known_contexts) known = {};
  }
  const OwnStack own_stack = OwnStack::OfThisThread();
  BeginMemo(state, own_stack);
  state.span = g_span;
  state.thread = t_facts.id;
  state.allowance = 0;
  state.begun_static_count = 0;
  state.walker.Begin(own_stack, g_region.header().stack_depth);
  state.epoch = 0;
  state.context = 0;
  state.trail.depth = 0;
  state.events = {};
  // If no events are wanted, there is room for all of them.
  if (!AreEventsWanted()) state.events.room_end = UINT64_MAX;
  state.opening_window = 0;
  state.closing_window = 0;
  state.ended_iteration = 0;
  state.shard->owner_tid.store(CurrentTid(), std::memory_order_relaxed);
  t_thread.state = &state;
  t_thread.SetActivity(Activity::kHost);
  {
    const SpinGuard guard(g_lock);
    state.owner = &t_thread;
  }
  if (RecordsEvents()) NoteOther(EventThreadOf(state), OtherEvent::kThreadBegins, 0);
}

// The handle may be gone with the thread's stack, if the thread ended without running its
// destructors.
bool IsRecording(const ThreadHandle* thread, const ThreadState* state) {
  if (!IsReadable(reinterpret_cast<std::uintptr_t>(&thread->ready)) ||
      !IsReadable(reinterpret_cast<std::uintptr_t>(thread) + sizeof(ThreadHandle) - 8)) {
    return false;
  }
  // The handle belongs to another thread by now, which has taken the ended one's stack.
  if (*static_cast<ThreadState* const volatile*>(&thread->state) != state) return false;
  const auto activity = *static_cast<const volatile Activity*>(&thread->activity);
  const ThreadState* const ready = *static_cast<ThreadState* const volatile*>(&thread->ready);
  return activity == Activity::kRecording || activity == Activity::kAllocator ||
         (activity == Activity::kHost && ready == nullptr);
}

}  // namespace

bool StartThreads() {
  // Otherwise a thread that is just ending may hold it.
  if (g_pid != CurrentPid()) g_lock.Reset();
  const SpinGuard guard(g_lock);
  // Published by the release in SwitchOn, like the content of the states.
  ++g_span;
  g_pid = CurrentPid();
  for (ThreadState* state = g_all; state != nullptr; state = state->next) {
    state->epoch = 0;
    state->context = 0;
    state->shard = nullptr;
    state->events = {};
    NoteOwnMemory(state, sizeof(*state));
  }
  return PrepareThreadEnds();
}

void EndThread() {
  if (IsTracing()) {
    NoteEnd();
    EndStack();
  }
  if (t_thread.state != nullptr) ReleaseState(t_thread.state);
}

// An owner that ends takes the lock to return its state, so the state exists meanwhile.
bool IsAnyThreadRecording() {
  const SpinGuard guard(g_lock);
  for (const ThreadState* state = g_all; state != nullptr; state = state->next) {
    const ThreadHandle* const owner = state->owner;
    if (owner != nullptr && owner != &t_thread && IsRecording(owner, state)) return true;
  }
  return false;
}

void BeginThread(ThreadOrigin origin) {
  if (!IsTracing() || t_facts.span == g_span) return;
  const bool is_known = origin.span == g_span;
  Register(is_known ? origin : ThreadOrigin{});
}

void NoteFirstFrame(const FirstFrame& first) {
  t_facts.first_frame = first;
  if (t_thread.state != nullptr) t_thread.state->memo.BeginAt(first);
}

bool MakeThread() {
  if (t_facts.span != g_span) {
    Register({.birth_window = g_region.header().current_window.load(std::memory_order_relaxed)});
  }
  ThreadState* state = t_thread.state;  // of an earlier span
  if (state == nullptr) state = TakeFree();
  if (state == nullptr) state = Create();
  if (state == nullptr || !HasShard(*state)) {
    if (state != nullptr) ReleaseState(state);
    g_region.Drop(DropReason::kNoThreadState);
    return false;
  }
  Take(*state);
  return true;
}

}  // namespace leakgate::agent
