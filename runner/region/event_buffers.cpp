#include "runner/region/event_buffers.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <unordered_map>

#include "runner/region/shared_wait.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kControlBytes = region_offset::kDirectory - region_offset::kEventControl;

std::uint32_t MostBuffers(std::uint32_t bytes) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(kMaxEventBuffers, kMaxEventBytes / bytes));
}

Expected<Mapping> MapControl(const UniqueFd& fd) {
  return Mapping::Map(fd, region_offset::kEventControl, kControlBytes, MappingAccess::kReadWrite);
}

}  // namespace

Expected<void> EventBuffers::Ask(const UniqueFd& fd, const EventRequest& request) {
  if (request.buffer_bytes == 0) return {};
  LEAKGATE_TRY_ASSIGN(const Mapping mapped, MapControl(fd));
  auto& control = *reinterpret_cast<EventControl*>(mapped.data());
  control.buffer_bytes = request.buffer_bytes;
  control.buffer_count.store(request.buffer_count, std::memory_order_relaxed);
  control.when_full.store(static_cast<std::uint32_t>(request.when_full), std::memory_order_relaxed);
  control.clock = static_cast<std::uint32_t>(request.clock);
  control.time_shift = request.time_shift;
  control.free_count.store(static_cast<std::int32_t>(request.buffer_count),
                           std::memory_order_relaxed);
  return {};
}

Expected<std::unique_ptr<EventBuffers>> EventBuffers::Attach(const UniqueFd& fd) {
  LEAKGATE_TRY_ASSIGN(Mapping control, MapControl(fd));
  const auto& asked = *reinterpret_cast<const EventControl*>(control.data());
  const std::uint32_t bytes = asked.buffer_bytes;
  const std::uint32_t count = asked.buffer_count.load(std::memory_order_relaxed);
  if (bytes == 0) return nullptr;
  if (bytes > kMostBufferBytes || count > MostBuffers(bytes)) {
    return InconclusiveError("the region's event buffers are damaged");
  }
  LEAKGATE_TRY_ASSIGN(Mapping memory, Mapping::Map(fd, region_offset::kEvents, kMaxEventBytes,
                                                   MappingAccess::kReadOnly));
  LEAKGATE_TRY_ASSIGN(Mapping tables,
                      Mapping::Map(fd, 0, region_offset::kEventControl, MappingAccess::kReadOnly));
  return std::unique_ptr<EventBuffers>(
      new EventBuffers(std::move(tables), std::move(control), std::move(memory), bytes, count));
}

EventBuffers::EventBuffers(Mapping tables, Mapping control, Mapping memory, std::uint32_t bytes,
                           std::uint32_t count)
    : tables_(std::move(tables)),
      control_(std::move(control)),
      memory_(std::move(memory)),
      buffer_bytes_(bytes),
      buffer_count_(count),
      used_words_(kMaxEventBuffers),
      positions_(kMaxEventBuffers),
      copy_(bytes / sizeof(std::uint64_t)) {}

EventBuffer& EventBuffers::Record(std::uint32_t buffer) const {
  constexpr std::uint64_t kBuffers = region_offset::kEventBuffers - region_offset::kEventControl;
  return reinterpret_cast<EventBuffer*>(control_.data() + kBuffers)[buffer];
}

void EventBuffers::SetOn(bool is_on) {
  Control().is_on.store(is_on ? 1 : 0, std::memory_order_release);
}

bool EventBuffers::IsOn() const { return Control().is_on.load(std::memory_order_acquire) != 0; }

void EventBuffers::AskToStop() {
  Control().is_stopped.store(1, std::memory_order_release);
  Wake();
}

bool EventBuffers::IsStopAsked() const {
  return Control().is_stopped.load(std::memory_order_acquire) != 0;
}

std::vector<EventBuffers::Found> EventBuffers::ScanUsed() const {
  std::vector<Found> found;
  for (std::uint32_t i = 0; i < buffer_count_; ++i) {
    EventBuffer& record = Record(i);
    // Acquire pairs with the release by which a thread leaves the buffer: the used bytes are final.
    const auto state = static_cast<EventBufferState>(record.state.load(std::memory_order_acquire));
    if (state != EventBufferState::kOwned && state != EventBufferState::kFull) continue;
    // Acquire pairs with the release of the new owner: 0 until it has set up the record.
    const std::uint64_t sequence = std::atomic_ref(record.sequence).load(std::memory_order_acquire);
    if (sequence != 0) found.push_back({i, record.thread, sequence, state});
  }
  return found;
}

// During a scan, a thread may take a buffer that the scan has passed, fill it, and take one that
// the scan has yet to meet. A second scan finds whatever is older than what the first one has
// found; what is newer is left for the next time.
std::vector<EventBuffers::Found> EventBuffers::FindUsed() const {
  std::unordered_map<std::uint32_t, std::uint64_t> newest;  // sequence, by thread
  for (const Found& found : ScanUsed()) {
    std::uint64_t& sequence = newest[found.thread];
    sequence = std::max(sequence, found.sequence);
  }
  if (newest.empty()) return {};
  std::vector<Found> used = ScanUsed();
  std::erase_if(used, [&](const Found& found) {
    const auto of_thread = newest.find(found.thread);
    return of_thread == newest.end() || found.sequence > of_thread->second;
  });
  std::sort(used.begin(), used.end(), [](const Found& a, const Found& b) {
    return std::tie(a.thread, a.sequence) < std::tie(b.thread, b.sequence);
  });
  return used;
}

void EventBuffers::DrainOne(const Found& found, const Use& use) {
  const EventBuffer& record = Record(found.buffer);
  const std::uint32_t most = buffer_bytes_ / sizeof(std::uint64_t);
  const std::uint32_t end = std::min<std::uint32_t>(
      record.used_bytes.load(std::memory_order_acquire) / sizeof(std::uint64_t), most);
  std::uint32_t& used = used_words_[found.buffer];
  const std::uint32_t count = end > used ? end - used : 0;
  const std::byte* const from =
      memory_.data() + std::size_t{found.buffer} * buffer_bytes_ + used * sizeof(std::uint64_t);
  std::memcpy(copy_.data(), from, count * sizeof(std::uint64_t));
  EventPosition& position = positions_[found.buffer];
  if (used == 0) position = {record.begin_time, record.context};
  const std::size_t taken = use({.buffer = found.buffer,
                                 .thread = found.thread,
                                 .is_first = used == 0,
                                 .is_full = found.state == EventBufferState::kFull,
                                 .begin_time = record.begin_time,
                                 .lost_events = record.lost_events,
                                 .lost_begin = record.lost_begin,
                                 .words = std::span(copy_.data(), count)},
                                position);
  used += static_cast<std::uint32_t>(std::min<std::size_t>(taken, count));
  if (found.state == EventBufferState::kFull && used >= end) ReleaseBuffer(found.buffer);
}

void EventBuffers::ReleaseBuffer(std::uint32_t buffer) {
  EventBuffer& record = Record(buffer);
  used_words_[buffer] = 0;
  std::atomic_ref(record.sequence).store(0, std::memory_order_relaxed);
  // Release pairs with the acquire of the thread that takes it next.
  record.state.store(static_cast<std::uint32_t>(EventBufferState::kFree),
                     std::memory_order_release);
  // Release pairs with the acquire of that thread: a thread that counts on a free buffer finds it.
  Control().free_count.fetch_add(1, std::memory_order_release);
}

// Threads that do little keep their buffers. The remaining buffers must not become too few, because
// the other threads might wait for ever.
void EventBuffers::AddBuffers(const std::vector<Found>& used) {
  const auto owned =
      static_cast<std::uint32_t>(std::count_if(used.begin(), used.end(), [](const Found& found) {
        return found.state == EventBufferState::kOwned;
      }));
  const std::uint32_t spare = buffer_count_ - std::min(owned, buffer_count_);
  if (spare > buffer_count_ / 4) return;
  EventControl& control = Control();
  const std::uint32_t most = MostBuffers(buffer_bytes_);
  if (buffer_count_ == most) {
    if (spare == 0) {
      control.when_full.store(static_cast<std::uint32_t>(WhenFull::kLose),
                              std::memory_order_relaxed);
    }
    return;
  }
  const std::uint32_t added = std::min(most - buffer_count_, std::max(buffer_count_, 2U));
  buffer_count_ += added;
  // Release pairs with the acquire of threads that look for a free one: their records are zero.
  control.buffer_count.store(buffer_count_, std::memory_order_release);
  control.free_count.fetch_add(static_cast<std::int32_t>(added), std::memory_order_release);
}

void EventBuffers::Drain(const Use& use) {
  EventControl& control = Control();
  const std::int32_t free_before = control.free_count.load(std::memory_order_relaxed);
  const std::vector<Found> used = FindUsed();
  for (const Found& found : used) DrainOne(found, use);
  AddBuffers(used);
  control.drained.fetch_add(1, std::memory_order_release);
  // Threads wait only if there was a time without a free buffer.
  if (free_before <= static_cast<std::int32_t>(buffer_count_ / 4)) {
    WakeAll(control.drained);
  }
}

void EventBuffers::WaitUntilFilled(std::chrono::milliseconds patience) {
  EventControl& control = Control();
  const std::uint32_t filled = control.filled.load(std::memory_order_acquire);
  control.runner_waits.store(1, std::memory_order_seq_cst);
  const auto count = static_cast<std::int32_t>(buffer_count_);
  // The agent's condition: if it was true before this thread began to wait, nobody will wake it.
  const bool is_time =
      control.free_count.load(std::memory_order_seq_cst) <= count - (count + 3) / 4;
  if (!is_time) AwaitChange(control.filled, filled, patience);
  control.runner_waits.store(0, std::memory_order_relaxed);
}

void EventBuffers::Wake() {
  EventControl& control = Control();
  control.filled.fetch_add(1, std::memory_order_seq_cst);
  WakeAll(control.filled);
}

std::uint64_t EventBuffers::LostEvents() const {
  const auto& header = *reinterpret_cast<const RegionHeader*>(tables_.data());
  const std::uint32_t count =
      std::min(header.shard_count.load(std::memory_order_acquire), kMaxShards);
  const auto* const shards =
      reinterpret_cast<const CounterShard*>(tables_.data() + region_offset::kShards);
  std::uint64_t lost = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    lost += shards[i].events_lost.load(std::memory_order_relaxed);
  }
  return lost;
}

std::uint64_t EventBuffers::Waits() const {
  return Control().waits.load(std::memory_order_relaxed);
}
std::uint64_t EventBuffers::WaitedNs() const {
  return Control().waited_ns.load(std::memory_order_relaxed);
}

}  // namespace leakgate
