// Records the events of one traced image in a file while it runs: a thread of its own drains the
// event buffers of the image's region (region/event_buffers.h).
//
//   Start      events are on; for an image that runs already, what is live then is in the file
//              (it may be switched off and on by other commands: EventBuffers::SetOn)
//   the end    the image has ended, or a command asks for it, or Finish does: the file is complete
//
// The region is not trusted: each value is checked before it is written, so the file is valid even
// if the process overwrites its region, although its content may be wrong then.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "runner/base/atomic_file.h"
#include "runner/recording/event_time.h"
#include "runner/recording/file/recorded_event.h"
#include "runner/region/event_buffers.h"
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
  // Whether the image has ended; asked on the recorder's thread. May be empty.
  std::function<bool()> has_ended{};
};

class EventRecorder {
 public:
  // `region` must outlive the recorder, and `buffers` are its buffers: recordings of one image that
  // follow each other share them.
  [[nodiscard]] static Expected<std::unique_ptr<EventRecorder>> Start(
      const RegionReader& region, std::shared_ptr<EventBuffers> buffers, RecorderSetup setup);
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  // Drains the rest and completes the file, unless that has been done. Fails if the file could not
  // be written. Must be called once.
  [[nodiscard]] Expected<RecordingClosing> Finish();

  // Returns why the file cannot be written, as far as that is known so far. Any thread may call it.
  [[nodiscard]] std::string Problem() const;

 private:
  class Rounds;

  EventRecorder(std::unique_ptr<Rounds> rounds, std::function<bool()> has_ended);
  void Serve();
  void NoteProblem(const std::string& problem);

  [[nodiscard]] bool IsOver() const;

  std::unique_ptr<Rounds> rounds_;
  const std::function<bool()> has_ended_;
  std::atomic<bool> is_ending_{false};
  std::optional<Expected<RecordingClosing>> closing_;  // set by the thread at its end
  mutable std::mutex mutex_;
  std::string problem_;  // protected by mutex_
  std::thread thread_;
};

}  // namespace leakgate
