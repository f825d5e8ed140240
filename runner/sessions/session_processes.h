// The processes of a session: which ones are to be traced, and what has been traced so far.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runner/host/control_server.h"
#include "runner/host/mailbox_server.h"
#include "runner/host/traced_image.h"
#include "runner/judge/window_meter.h"
#include "runner/recording/event_recorder.h"
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

// Says that a process is another user's, and how to have it traced.
[[nodiscard]] std::string OtherUserText(unsigned uid);

// One program image that a session traces, with the thread that answers its agent: tests in it
// continue without a verdict, and the program's own code is told what it measures.
class SessionImage {
 public:
  // `program` is what the owner's process executes now. All of `owner` is used, except
  // `boundaries`.
  [[nodiscard]] static Expected<std::unique_ptr<SessionImage>> Trace(RegionOwner owner,
                                                                     ExecutedProgram program);

  const TracedImage& traced() const { return image_; }

  // Returns whether the process has ended or executes another program.
  [[nodiscard]] bool IsOver() const { return is_replaced_ || image_.HasEnded(); }
  // Notes that another image of the process is traced now.
  void NoteReplaced() { is_replaced_ = true; }
  // REQUIRES: IsOver, so that no more questions come.
  void StopAnswering() { answers_->Stop(); }

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
  SessionImage(std::unique_ptr<RegionFile> region, ExecutedProgram program);

  void Answer(Mailbox& mailbox);

  TracedImage image_;
  Symbolizer symbolizer_;
  WindowMeter meter_;
  RequestedSnapshot snapshots_;
  std::atomic<bool> is_replaced_ = false;
  std::filesystem::path recording_path_;
  std::unique_ptr<EventRecorder> recorder_;
  std::unique_ptr<MailboxServer> answers_;  // the last member, because it uses the others
};

// A process that carries the agent asks when its program starts (OnHello). The session keeps the
// regions of processes that have ended, the newest ones, until it is stopped. Any thread may call.
class SessionProcesses {
 public:
  // At most this many ended processes are kept, and this many that could not be traced.
  static constexpr std::size_t kMostEnded = 256;

  SessionProcesses(SessionScope scope, const StackSettings& stacks, DescriptorRoom descriptors,
                   SessionRecording recording = {});

  // Returns whether to hear `peer`, as SessionUsers says. A process of a wanted image that may not
  // be traced is noted as untraced.
  [[nodiscard]] bool MayServe(const ControlPeer& peer);
  // REQUIRES: MayServe returned true for the process.
  [[nodiscard]] HelloReply OnHello(int pid);

  // These change which programs are traced when they start later.
  void AddImage(const ImageSelector& image);
  // Returns whether the session had `image`.
  bool DropImage(const ImageSelector& image);

  // From now on `pid` gets a region when its agent asks, until the process ends: a later process
  // with the same number does not.
  void AddPid(int pid);
  bool DropPid(int pid);
  [[nodiscard]] SessionScope scope() const;

  [[nodiscard]] std::vector<ProcessStatus> Query();
  // How many ended processes are no longer kept.
  [[nodiscard]] std::uint64_t forgotten() const;
  // How many processes could not be traced, since the session began.
  [[nodiscard]] std::uint64_t untraced() const;
  // Returns the region of `pid`'s program of that generation, or of its newest for 0; nullopt if
  // it is not traced.
  [[nodiscard]] std::optional<ProcessRegion> RegionOf(int pid, std::uint32_t generation) const;

  // Notes that a wanted process is not traced, unless it is. kStarting: it was given the agent, and
  // has not asked yet.
  void NoteProgram(ProcessStatus program);

  // From now on no process is given a region.
  void Close();
  // Completes the recordings of all images, and says why some could not be written.
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
  [[nodiscard]] bool IsNamed(int pid) const;
  [[nodiscard]] bool IsWantedImage(const ExecutedProgram& program) const;
  // Notes those as untraced that have ended without asking.
  void LookAtAwaited();
  // Forgets the oldest images that are over, beyond kMostEnded.
  void ForgetOldest();
  // Returns false if none has ended.
  [[nodiscard]] bool ForgetOneEnded();
  // Frees descriptors for one more image by forgetting ended ones; returns false if it cannot.
  [[nodiscard]] bool MakeRoom();
  void NoteUntraced(int pid, ExecutedProgram program, std::string problem);
  [[nodiscard]] std::filesystem::path RecordingPath(const SessionImage& image) const;

  mutable std::mutex mutex_;  // protects all that follows
  std::vector<ImageSelector> wanted_images_;
  std::map<int, std::uint64_t> wanted_pids_;  // each with the time when it was started
  const SessionUsers users_;
  const StackSettings stacks_;
  std::list<std::unique_ptr<SessionImage>> images_;  // oldest first
  const DescriptorRoom descriptors_;
  const SessionRecording recording_;
  const EventTimeUnit unit_;  // of its events
  bool is_closed_ = false;
  std::list<ProcessStatus> untraced_;  // oldest first; one for each PID
  struct Awaited {
    ProcessStatus status;
    std::uint64_t start_time = 0;
  };
  std::list<Awaited> awaited_;  // those that have the agent, which has not asked yet
  std::uint64_t forgotten_untraced_ = 0;
  std::uint64_t forgotten_ = 0;
};

}  // namespace leakgate
