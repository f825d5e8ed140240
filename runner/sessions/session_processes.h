// The processes of a session: which ones are to be traced, and what has been traced so far.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runner/host/control_server.h"
#include "runner/host/descriptor_room.h"
#include "runner/host/traced_image.h"
#include "runner/recording/event_recorder.h"
#include "runner/sessions/ended_regions.h"
#include "runner/sessions/session_messages.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

// Where a session's recordings go, and how they are made.
struct SessionRecording {
  std::filesystem::path file{};       // of the only process; empty: there may be several
  std::filesystem::path directory{};  // of IMAGE-PID.recording; both empty: nothing is recorded
  AtomicFile::Existing existing = AtomicFile::Existing::kRefused;
  EventRequest request{};

  bool IsAsked() const { return !file.empty() || !directory.empty(); }
};

// Returns the text which says that a process is another user's, and how to trace it.
[[nodiscard]] std::string OtherUserText(unsigned uid);

// One program image that a session traces, with the thread that answers its agent: tests in it
// continue without a verdict, and the program's own code receives what it measures.
class SessionImage {
 public:
  // The process to which the image belongs, as the kernel described it when the process asked.
  struct Process {
    unsigned uid = 0;
    std::uint64_t start_time = 0;
  };

  // `program` is what the owner's process executes now. All of `owner` is used, except
  // `boundaries`.
  [[nodiscard]] static Expected<std::unique_ptr<SessionImage>> Trace(RegionOwner owner,
                                                                     Process process,
                                                                     ExecutedProgram program);

  const TracedImage& traced() const { return image_; }
  const Process& process() const { return process_; }
  bool IsOf(int pid, std::uint64_t start_time) const {
    return image_.pid() == pid && process_.start_time == start_time;
  }
  // This is not read from the region, which the process can overwrite.
  std::uint32_t generation() const { return generation_; }
  const std::filesystem::path& recording_path() const { return recording_path_; }

  [[nodiscard]] ProcessStatus Status() const;

  // True once the ring has taken its last snapshot.
  bool has_last_snapshot = false;

  // Returns whether the process has ended or executes another program.
  [[nodiscard]] bool IsOver() const { return is_replaced_ || image_.HasEnded(); }
  // Notes that another image of the process is traced now.
  void NoteReplaced() { is_replaced_ = true; }
  // REQUIRES: IsOver, so that no more questions come.
  void StopAnswering() { image_.StopAnswering(); }

  // Records its events into `path`. REQUIRES: its region was made for that, and its process has not
  // been given it yet.
  [[nodiscard]] Expected<void> Record(const std::filesystem::path& path,
                                      const SessionRecording& how, const EventTimeUnit& unit);
  // Returns why the recording fails; empty if it does not, or there is none.
  [[nodiscard]] std::string RecordingProblem() const {
    return recorder_ == nullptr ? "" : recorder_->Problem();
  }
  // Completes the recording; nullopt if there is none.
  [[nodiscard]] std::optional<Expected<RecordedFile>> FinishRecording();

 private:
  SessionImage(std::unique_ptr<RegionFile> region, const RegionOwner& owner, Process process,
               ExecutedProgram program);

  Symbolizer symbolizer_;
  TracedImage image_;
  const Process process_;
  const std::uint32_t generation_;
  std::atomic<bool> is_replaced_ = false;
  std::filesystem::path recording_path_;
  std::unique_ptr<EventRecorder> recorder_;
};

// Processes that carry the agent ask when their program starts (OnHello). The session keeps the
// regions of ended processes until it is stopped, within limits (ended_regions.h). Any thread may
// call these functions.
//
// A process is identified by its PID and its start time, since the kernel uses numbers again. Its
// images are identified by PID and generation, a pair that occurs once in a session.
class SessionProcesses {
 public:
  // At most this many ended processes are kept, and this many that could not be traced.
  static constexpr std::size_t kMostEnded = 256;
  // The regions of ended processes may hold this share of the memory that the owner and what runs
  // beside it may have (MemoryLimit), and never more than the most.
  static constexpr std::uint64_t kShareOfMemory = 8;
  static constexpr std::uint64_t kMostEndedBytes = std::uint64_t{512} << 20;

  // `describe` returns what a process executes, or nothing if that cannot be read in time.
  using DescribeProgram = std::function<std::optional<ExecutedProgram>(int pid)>;
  SessionProcesses(SessionScope scope, const StackSettings& stacks, DescriptorRoom descriptors,
                   SessionRecording recording, DescribeProgram describe);

  // Returns whether `peer` is served, as SessionUsers says. A process of a wanted image that may
  // not be traced is noted as untraced.
  [[nodiscard]] bool MayServe(const ControlPeer& peer);
  // A process that cannot be traced for lack of memory or threads is noted as untraced. REQUIRES:
  // MayServe returned true for the process.
  [[nodiscard]] HelloReply OnHello(const ControlPeer& peer);
  // Notes that the process could not be asked, and that no further one can be served.
  void NoteUnserved(const ControlPeer& peer, const std::string& why);
  void NoteFailure(const std::string& why);
  // Returns why no further process can be served; empty if further ones can.
  [[nodiscard]] std::string failure() const;

  // These change which programs are traced when they start later.
  void AddImage(const ImageSelector& image);
  // Returns whether the session had `image`.
  bool DropImage(const ImageSelector& image);

  // From now on `pid` gets a region when its agent asks, until the process ends: a later process
  // with the same number does not.
  void AddPid(int pid);
  bool DropPid(int pid);
  [[nodiscard]] SessionScope scope() const;

  // All arguments and paths of the answer are shortened so that they do not exceed some MiB.
  [[nodiscard]] std::vector<ProcessStatus> Query();
  // Releases what exceeds the limits. Must be called at least each second, because processes end,
  // and a process may fill the region that it was given.
  void LookAtEnded();
  // How many ended processes are no longer kept, and how many bytes the kept ones hold.
  struct Ended {
    std::uint64_t forgotten = 0;
    std::uint64_t bytes = 0;
    std::uint64_t most_bytes = 0;
    // Those of the forgotten ones of which the ring took no last snapshot.
    std::uint64_t without_last = 0;
  };
  [[nodiscard]] Ended ended() const;

  // From now on an ended process is kept until NoteLastSnapshot, unless twice the limits are
  // exceeded.
  void KeepForLastSnapshots();
  [[nodiscard]] std::vector<ProcessStatus> WithoutLastSnapshot() const;
  void NoteLastSnapshot(const ProcessStatus& process);
  // How many processes could not be traced, since the session began.
  [[nodiscard]] std::uint64_t untraced() const;
  // Returns the region of `pid`'s program of that generation, or of its newest for 0; nullopt if
  // it is not traced.
  [[nodiscard]] std::optional<ProcessRegion> RegionOf(int pid, std::uint32_t generation) const;

  // Notes that a wanted process is not traced, unless it is. kStarting means: it was given the
  // agent, whose question has not come yet.
  void NoteProgram(ProcessStatus program);

  // Notes so many further ones of which nothing else is known.
  void NoteUnreported(std::uint64_t count);

  // From now on no process is given a region.
  void Close();
  // Completes the recordings of all images, and reports why some could not be written. Of images
  // that have been forgotten, the newest 4096 recordings are reported.
  struct Recordings {
    std::vector<RecordedFile> files;
    std::vector<std::string> problems;
  };
  [[nodiscard]] Recordings FinishRecordings();
  // Returns the processes that are traced now.
  [[nodiscard]] std::vector<int> TracedPids() const;
  // Returns whether some process has a region but its agent has not started yet.
  [[nodiscard]] bool IsAnyStarting() const;
  [[nodiscard]] bool IsTraced(int pid) const;
  // Returns whether a session with these names would trace such a program.
  [[nodiscard]] bool IsWanted(const ExecutedProgram& program) const;

 private:
  using Images = std::list<std::unique_ptr<SessionImage>>;

  [[nodiscard]] bool IsNamed(int pid) const;
  [[nodiscard]] bool IsWantedImage(const ExecutedProgram& program) const;
  [[nodiscard]] HelloReply Enable(const ControlPeer& peer, std::uint64_t start_time,
                                  ExecutedProgram program);
  [[nodiscard]] std::uint32_t NextGeneration(int pid);
  // Notes those awaited processes as untraced that have ended without asking.
  void LookAtAwaited();
  void KeepBounds(const EndedBounds& bounds);
  [[nodiscard]] bool AwaitsLastSnapshot(const SessionImage& image) const;
  void ForgetImage(Images::iterator image);
  // Frees descriptors for one more image by forgetting ended ones; returns false if it cannot.
  [[nodiscard]] bool MakeRoom();
  void NoteUntraced(ProcessStatus process, std::string problem);
  [[nodiscard]] std::filesystem::path RecordingPath(const SessionImage& image) const;
  void TakeRecording(SessionImage& image);

  mutable std::mutex mutex_;  // protects all that follows
  std::vector<ImageSelector> wanted_images_;
  std::map<int, std::uint64_t> wanted_pids_;  // each with the time when it was started
  const SessionUsers users_;
  const StackSettings stacks_;
  Images images_;  // oldest first
  const DescriptorRoom descriptors_;
  const EndedBounds ended_bounds_;
  const SessionRecording recording_;
  const DescribeProgram describe_;
  const EventTimeUnit unit_;  // of its events
  bool is_closed_ = false;
  bool has_last_snapshots_ = false;
  std::string failure_;
  std::list<ProcessStatus> untraced_;  // oldest first; one for each process
  // Those that were given the agent, whose question has not come yet.
  std::list<ProcessStatus> awaited_;
  std::deque<std::pair<int, std::uint64_t>> let_go_;  // the newest processes, with their start
  std::map<int, std::uint32_t> generations_;          // the last one of each PID
  // For PIDs that are missing there: none has had a higher one.
  std::uint32_t least_generation_ = 0;
  Recordings finished_;  // of images that have been forgotten
  std::uint64_t forgotten_untraced_ = 0;
  std::uint64_t forgotten_ = 0;
  std::uint64_t without_last_ = 0;
};

}  // namespace leakgate
