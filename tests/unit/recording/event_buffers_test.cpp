#include "runner/region/event_buffers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "runner/region/region_file.h"

namespace leakgate::test {
namespace {

constexpr std::uint32_t kManyBuffers = 4096;  // so that looking at all takes a while

// Plays a thread of the program, which takes buffers without end, each far from the one before.
class BufferTaker {
 public:
  explicit BufferTaker(const UniqueFd& region)
      : control_(*Mapping::Map(region, region_offset::kEventControl,
                               region_offset::kDirectory - region_offset::kEventControl,
                               MappingAccess::kReadWrite)),
        records_(reinterpret_cast<EventBuffer*>(
            control_.data() + (region_offset::kEventBuffers - region_offset::kEventControl))),
        thread_([this] {
          while (!is_ending_) TakeNext();
        }) {}
  ~BufferTaker() {
    is_ending_ = true;
    thread_.join();
  }
  BufferTaker(const BufferTaker&) = delete;
  BufferTaker& operator=(const BufferTaker&) = delete;

 private:
  static std::uint32_t Of(EventBufferState state) { return static_cast<std::uint32_t>(state); }

  // As the agent does it (plugin/agent/events/event_writer.cpp).
  void TakeNext() {
    index_ = (index_ + 2731) % kManyBuffers;
    EventBuffer& next = records_[index_];
    if (next.state.load(std::memory_order_acquire) != Of(EventBufferState::kFree)) return;
    next.state.store(Of(EventBufferState::kOwned), std::memory_order_relaxed);
    if (current_ != nullptr) {
      current_->state.store(Of(EventBufferState::kFull), std::memory_order_release);
    }
    next.thread = 1;
    next.begin_time = ++sequence_;
    std::atomic_ref(next.sequence).store(sequence_, std::memory_order_release);
    current_ = &next;
  }

  Mapping control_;
  EventBuffer* const records_;
  EventBuffer* current_ = nullptr;
  std::uint32_t index_ = 0;
  std::uint64_t sequence_ = 0;
  std::atomic<bool> is_ending_{false};
  std::thread thread_;  // the last member: it uses all others
};

TEST(EventBuffersTest, PassesAThreadsBuffersInItsOrderWhileItTakesMore) {
  const auto region = *RegionFile::Create(
      {.pid = 1, .events = {.buffer_bytes = 4096, .buffer_count = kManyBuffers}});
  const auto buffers = *EventBuffers::Attach(region->fd());
  const BufferTaker taker(region->fd());
  constexpr std::uint64_t kEnough = 60'000;
  std::uint64_t last = 0;
  std::uint64_t out_of_order = 0;
  while (last < kEnough) {
    buffers->Drain([&](const EventPiece& piece, EventPosition&) {
      out_of_order += piece.begin_time < last;
      last = piece.begin_time;
      return piece.words.size();
    });
  }
  EXPECT_EQ(out_of_order, 0U);
}

}  // namespace
}  // namespace leakgate::test
