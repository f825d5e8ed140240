// Records what one traced image does into a file, while it runs: a thread of its own drains the
// event buffers of the image's region (region/linux/event_buffers.h).
//
//   Start      events are on; for an image that runs already, what is live then is in the file
//   Pause      and Continue, any number of times
//   Finish     the image has ended, or is recorded no more: the file is complete
//
// The region is not trusted: each value is checked before it is written, so the file is valid even
// if the process overwrites its region, though what it says may be wrong then.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "runner/base/atomic_file.h"
#include "runner/recording/event_time.h"
#include "runner/recording/file/recorded_event.h"
#include "runner/region/linux/event_buffers.h"
#include "runner/region/region_reader.h"
#include "runner/snapshot/file/region_records.h"

namespace leakgate {

struct RecorderSetup {
  SnapshotFacts process;  // from DescribeProcess
  ThreadNames thread_name;
  EventTimeUnit unit;
  EventRequest request;
  std::filesystem::path path;
  AtomicFile::Existing existing = AtomicFile::Existing::kRefused;
  std::string test{};       // if the recording covers one test
  bool has_blocks = false;  // whether anything may be live already
};

class EventRecorder {
 public:
  // `region` must outlive the recorder; `fd` is its descriptor.
  [[nodiscard]] static Expected<std::unique_ptr<EventRecorder>> Start(const RegionReader& region,
                                                                      const UniqueFd& fd,
                                                                      RecorderSetup setup);
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  // Any thread may call these three.
  void Pause();
  void Continue();
  [[nodiscard]] bool IsPaused() const { return is_paused_.load(std::memory_order_relaxed); }

  // Drains what is left and completes the file. Fails if the file could not be written. Call it
  // once.
  [[nodiscard]] Expected<RecordingClosing> Finish();

 private:
  class Rounds;

  explicit EventRecorder(std::unique_ptr<Rounds> rounds);
  void Serve();

  std::unique_ptr<Rounds> rounds_;
  std::mutex mutex_;  // held while a round is drained
  std::atomic<bool> is_paused_{false};
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace leakgate
