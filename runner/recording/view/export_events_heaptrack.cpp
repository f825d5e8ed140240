// Writes the events of a recording as heaptrack would have recorded them.
#include <algorithm>

#include "runner/recording/view/export_recording.h"
#include "runner/recording/view/replay.h"
#include "runner/snapshot/view/heaptrack_writer.h"

namespace leakgate {
namespace {

class HeaptrackEvents {
 public:
  HeaptrackEvents(RecordingView& view, std::ostream& out)
      : writer_(view.contents(), view.frames(), out), begin_ns_(view.begin_ns()) {
    writer_.Begin();
  }

  void Allocated(std::uint64_t time_ns, std::uint64_t bytes, std::uint32_t stack) {
    Pass(time_ns);
    writer_.Allocate(bytes, stack);
  }
  void Freed(std::uint64_t time_ns, std::uint64_t bytes, std::uint32_t stack) {
    Pass(time_ns);
    writer_.Free(bytes, stack);
  }
  void Other(const RecordedEvent& event) { Pass(event.time_ns); }
  void End(std::uint64_t time_ns) { Pass(time_ns); }

 private:
  // heaptrack's times are accurate to about 10 ms.
  void Pass(std::uint64_t time_ns) {
    constexpr std::uint64_t kStepMs = 10;
    const std::uint64_t ms = (std::max(time_ns, begin_ns_) - begin_ns_) / 1'000'000;
    if (ms < last_ms_ + kStepMs) return;
    writer_.Time(ms);
    last_ms_ = ms;
  }

  HeaptrackWriter writer_;
  std::uint64_t begin_ns_;
  std::uint64_t last_ms_ = 0;
};

}  // namespace

Expected<void> WriteHeaptrackEvents(RecordingView& view, std::ostream& out) {
  HeaptrackEvents events(view, out);
  Replay<HeaptrackEvents> replay(view, events);
  if (const Expected<void> read = replay.Run(); !read) return read;
  events.End(view.end_ns());
  return {};
}

}  // namespace leakgate
