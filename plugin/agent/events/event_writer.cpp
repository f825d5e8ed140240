#include "plugin/agent/events/event_writer.h"

#include <cstring>

#include "common/system.h"

#include LEAKGATE_AGENT(syscall)

namespace leakgate::agent {
namespace {

constinit const std::atomic<std::uint32_t> g_off{0};

// Where all buffers are. The addresses are kept for the buffers of a later region.
constinit char* g_memory = nullptr;
constinit bool g_are_wanted = false;
// The runner has drained nothing for so long that threads do not wait for it any more.
constinit std::atomic<bool> g_waits_no_more{false};

constexpr std::uint64_t kPatienceNs = 10'000'000'000;
constexpr std::uint64_t kLookEachNs = 50'000'000;

EventControl& Control() { return g_region.event_control(); }

// The runner writes these before it gives the process the region, and nobody else writes them.
// Nevertheless the program could overwrite this memory.
bool IsUsable(const EventControl& control) {
  return control.buffer_bytes % 4096 == 0 && control.buffer_bytes >= 4096 &&
         control.buffer_bytes <= kMaxEventBytes && control.time_shift < 32;
}

// Never more than there is memory for, whatever the region contains.
std::uint32_t BufferCount() {
  const EventControl& control = Control();
  const std::uint64_t most = kMaxEventBytes / control.buffer_bytes;
  const std::uint32_t count = control.buffer_count.load(std::memory_order_acquire);
  const auto limit = static_cast<std::uint32_t>(most < kMaxEventBuffers ? most : kMaxEventBuffers);
  return count < limit ? count : limit;
}

// Returns nullptr if no buffer is free. A thread that has decremented the count will find one:
// acquire pairs with the release by which the buffer was counted, so it is seen to be free. As
// other threads take and free buffers meanwhile, one may become free behind the search, so the
// search goes round more than once.
EventBuffer* TakeFree() {
  constexpr std::uint32_t kRounds = 4;
  EventControl& control = Control();
  std::int32_t free = control.free_count.load(std::memory_order_relaxed);
  do {
    if (free <= 0) return nullptr;
  } while (!control.free_count.compare_exchange_weak(free, free - 1, std::memory_order_acquire,
                                                     std::memory_order_relaxed));
  const std::uint32_t first = control.next_to_try.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t count = BufferCount();
  for (std::uint32_t i = 0; i < kRounds * count; ++i) {
    EventBuffer& buffer = g_region.event_buffers()[(first + i) % count];
    auto expected = static_cast<std::uint32_t>(EventBufferState::kFree);
    // Acquire pairs with the release by which the runner frees a buffer.
    if (buffer.state.load(std::memory_order_relaxed) == expected &&
        buffer.state.compare_exchange_strong(expected,
                                             static_cast<std::uint32_t>(EventBufferState::kOwned),
                                             std::memory_order_acquire)) {
      return &buffer;
    }
  }
  // The program has overwritten the records.
  return nullptr;
}

// The runner first says that it waits, and then reads `filled` (FUTEX_WAIT, which is a fence). Here
// the order is the opposite, and both are seq_cst: so at least one of the two sees what the other
// does.
void WakeRunner() {
  EventControl& control = Control();
  control.filled.fetch_add(1, std::memory_order_seq_cst);
  if (control.runner_waits.load(std::memory_order_seq_cst) == 0) return;
  if (control.runner_waits.exchange(0, std::memory_order_seq_cst) == 0) return;
  WakeWaiters(control.filled);
}

// Returns whether a quarter of the buffers is full, so that it is time to drain them.
bool IsTimeToDrain() {
  const EventControl& control = Control();
  const auto count = static_cast<std::int32_t>(BufferCount());
  return control.free_count.load(std::memory_order_relaxed) <= count - (count + 3) / 4;
}

// Gives back a buffer for which there is no memory. Nobody waits for one any more.
void GiveUp(EventBuffer& buffer) {
  g_waits_no_more.store(true, std::memory_order_relaxed);
  buffer.state.store(static_cast<std::uint32_t>(EventBufferState::kFree),
                     std::memory_order_release);
  Control().free_count.fetch_add(1, std::memory_order_release);
}

void Install(const EventThread& thread, EventBuffer& buffer) {
  EventCursor& cursor = thread.cursor;
  const EventControl& control = Control();
  const auto index = static_cast<std::uint64_t>(&buffer - g_region.event_buffers());
  char* const memory = g_memory + index * control.buffer_bytes;
  if (!MakeRoom(memory, control.buffer_bytes)) return GiveUp(buffer);
  LeaveEventBuffer(cursor);
  cursor.begin = reinterpret_cast<std::uint64_t*>(memory);
  cursor.time = EventTime();
  cursor.buffer = &buffer;
  buffer.thread = thread.id;
  buffer.begin_time = cursor.time;
  buffer.context = cursor.context;
  buffer.lost_events = cursor.lost_events;
  buffer.lost_begin = cursor.lost_begin;
  buffer.used_bytes.store(0, std::memory_order_relaxed);
  // The sequence number is stored last, with release: a buffer that has one has an owner, and is
  // complete.
  std::atomic_ref(buffer.sequence).store(++cursor.sequence, std::memory_order_release);
  cursor.lost_events = 0;
  cursor.at = cursor.begin;
  cursor.room_end = reinterpret_cast<std::uint64_t>(cursor.begin) + control.buffer_bytes -
                    kEventRoomWords * sizeof(std::uint64_t);
}

// Signals are blocked: a handler would find the cursor half changed.
bool TryMakeRoom(const EventThread& thread) {
  if (Control().free_count.load(std::memory_order_relaxed) <= 0) return false;
  const std::uint64_t blocked = BlockSignals();
  if (!HasEventRoom(thread.cursor)) {
    EventBuffer* const buffer = TakeFree();
    if (buffer != nullptr) Install(thread, *buffer);
  }
  RestoreSignals(blocked);
  return HasEventRoom(thread.cursor);
}

// Signals are blocked, as in TryMakeRoom.
void ReleaseBuffer(const EventThread& thread) {
  const std::uint64_t blocked = BlockSignals();
  LeaveEventBuffer(thread.cursor);
  RestoreSignals(blocked);
}

// Returns when the runner has drained something, or when it will not any more.
void WaitForRunner() {
  EventControl& control = Control();
  const std::uint64_t begin = MonotonicTime();
  const std::uint32_t drained = control.drained.load(std::memory_order_acquire);
  control.waits.fetch_add(1, std::memory_order_relaxed);
  while (control.free_count.load(std::memory_order_relaxed) <= 0 &&
         control.drained.load(std::memory_order_acquire) == drained) {
    WakeRunner();
    WaitWhile(control.drained, drained, kLookEachNs);
    if (MonotonicTime() - begin > kPatienceNs) {
      g_waits_no_more.store(true, std::memory_order_relaxed);
      break;
    }
  }
  control.waited_ns.fetch_add(MonotonicTime() - begin, std::memory_order_relaxed);
}

bool MayWait() {
  return Control().when_full.load(std::memory_order_relaxed) ==
             static_cast<std::uint32_t>(WhenFull::kWait) &&
         !g_waits_no_more.load(std::memory_order_relaxed);
}

// Returns whether there is room now. If not, counts a lost event.
[[nodiscard]] bool FindRoom(const EventThread& thread) {
  if (!HasEventRoom(thread.cursor)) MakeEventRoom(thread);
  if (HasEventRoom(thread.cursor)) return true;
  if (thread.cursor.lost_events++ == 0) thread.cursor.lost_begin = EventTime();
  AddAsOwner(thread.shard.events_lost, 1);
  return false;
}

[[nodiscard]] bool MayWrite(const EventThread& thread) {
  return g_switch.records_events != 0 && AreEventsOn() && FindRoom(thread);
}

}  // namespace

constinit std::atomic<const std::atomic<std::uint32_t>*> g_events_are_on{&g_off};

void BeginEvents() {
  if (g_are_wanted) g_events_are_on.store(&Control().is_on, std::memory_order_relaxed);
}

bool StartEvents(int region_fd) {
  g_are_wanted = false;
  g_events_are_on.store(&g_off, std::memory_order_relaxed);
  g_waits_no_more.store(false, std::memory_order_relaxed);
  const EventControl& control = Control();
  if (control.buffer_bytes == 0) return true;
  if (!IsUsable(control)) return false;
  void* const memory = MapSparseAt(g_memory, region_fd, region_offset::kEvents, kMaxEventBytes);
  if (memory == nullptr) return false;
  g_memory = static_cast<char*>(memory);
  NoteOwnMemory(memory, kMaxEventBytes);
  g_are_wanted = true;
  return true;
}

void ParkEvents() {
  if (g_memory != nullptr) Park(g_memory, kMaxEventBytes);
}

void ForgetEvents() {
  g_memory = nullptr;
  g_are_wanted = false;
  g_events_are_on.store(&g_off, std::memory_order_relaxed);
}

bool AreEventsWanted() { return g_are_wanted; }

EventSwitch EventsAsked() {
  if (!g_are_wanted) return {.records = g_region.header().counts_temporary != 0};
  const EventControl& control = Control();
  return {.records = true,
          .reads_time_stamp = control.clock == static_cast<std::uint32_t>(EventClock::kCounter),
          .time_shift = control.time_shift};
}

void MakeEventRoom(const EventThread& thread) {
  while (!TryMakeRoom(thread)) {
    if (!MayWait()) return;
    // It may be the last buffer that the runner could free for other threads.
    if (!HasEventRoom(thread.cursor)) ReleaseBuffer(thread);
    WaitForRunner();
  }
}

void LeaveEventBuffer(EventCursor& cursor) {
  if (cursor.buffer == nullptr) return;
  cursor.buffer->state.store(static_cast<std::uint32_t>(EventBufferState::kFull),
                             std::memory_order_release);
  cursor.buffer = nullptr;
  cursor.room_end = 0;
  if (IsTimeToDrain()) WakeRunner();
}

std::uint64_t WriteEventTime(EventCursor& cursor, std::uint64_t now) {
  // The clock ran backwards: the counters of two processors differ a little.
  if (now < cursor.time) return 0;
  cursor.at[0] = OtherEventWord(OtherEvent::kTime, 0, 0);
  cursor.at[1] = now;
  PublishEvents(cursor, cursor.at + 2);
  cursor.time = now;
  return 0;
}

void WriteLongAllocation(EventCursor& cursor, const AllocationEvent& event) {
  const std::uint64_t delta = PassTime(cursor);
  std::uint64_t* at = cursor.at;
  *at++ = OtherEventWord(OtherEvent::kContext, event.context, delta);
  cursor.context = event.context;
  *at++ = EventWord(EventTag::kAllocate, WithoutTag(event.address), 0);
  *at++ = AllocationWord(static_cast<std::uint64_t>(event.kind), event.stack, event.size_bytes);
  if (event.size_bytes >= kLongSize) *at++ = event.size_bytes;
  PublishEvents(cursor, at);
}

void NoteAllocation(const EventThread& thread, const AllocationEvent& event) {
  if (MayWrite(thread)) WriteAllocation(thread.cursor, event);
}

void NoteFree(const EventThread& thread, std::uint64_t address) {
  if (MayWrite(thread)) WriteFree(thread.cursor, address);
}

void NoteFreeByStack(const EventThread& thread, std::uint64_t address, std::uint32_t stack) {
  if (!MayWrite(thread)) return;
  EventCursor& cursor = thread.cursor;
  const std::uint64_t delta = PassTime(cursor);
  cursor.at[0] = EventWord(EventTag::kFreeByStack, WithoutTag(address), delta);
  cursor.at[1] = stack;
  PublishEvents(cursor, cursor.at + 2);
}

void NoteOther(const EventThread& thread, OtherEvent event, std::uint64_t value) {
  if (!MayWrite(thread)) return;
  EventCursor& cursor = thread.cursor;
  const std::uint64_t delta = PassTime(cursor);
  cursor.at[0] = OtherEventWord(event, value, delta);
  PublishEvents(cursor, cursor.at + 1);
}

void NoteMark(const EventThread& thread, std::string_view name) {
  if (!MayWrite(thread)) return;
  EventCursor& cursor = thread.cursor;
  const std::uint64_t bytes = name.size() < kMostMarkBytes ? name.size() : kMostMarkBytes;
  const std::uint32_t words = WordsAfter(OtherEvent::kMark, bytes);
  // The name may have any length: if the rest of this buffer is too short, the next buffer is not.
  if (reinterpret_cast<std::uint64_t>(cursor.at + words) >= cursor.room_end) {
    ReleaseBuffer(thread);
    if (!FindRoom(thread)) return;
  }
  const std::uint64_t delta = PassTime(cursor);
  cursor.at[0] = OtherEventWord(OtherEvent::kMark, bytes, delta);
  if (words != 0) cursor.at[words] = 0;
  std::memcpy(cursor.at + 1, name.data(), bytes);
  PublishEvents(cursor, cursor.at + 1 + words);
}

void NoteOther(const EventThread& thread, OtherEvent event, std::uint64_t value, EventWords words) {
  if (!MayWrite(thread)) return;
  EventCursor& cursor = thread.cursor;
  const std::uint64_t delta = PassTime(cursor);
  cursor.at[0] = OtherEventWord(event, value, delta);
  cursor.at[1] = words.first;
  cursor.at[2] = words.second;
  PublishEvents(cursor, cursor.at + 3);
}

}  // namespace leakgate::agent
