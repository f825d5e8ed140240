#include "runner/sessions/session_processes.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/attribution/code_owner.h"
#include "runner/base/path_text.h"
#include "runner/process/proc_files.h"
#include "runner/sessions/memory_limit.h"
#include "runner/snapshot/file/describe_process.h"
#include "runner/snapshot/file/requested_snapshot.h"

namespace leakgate {
namespace {

constexpr const char* kTooSlow =
    "what it executes could not be read in time, so it is not known whether it is wanted; a file "
    "system of its user's may not answer";
constexpr const char* kEndedTooEarly =
    "it ended before its agent had begun to trace, or the agent could not start in it";

std::string NoRoomText(const DescriptorRoom& descriptors) {
  return Error{fmt::format("it is not traced: the session's owner may open {} files at most, which "
                           "is enough for no further process that runs; have some end, or start "
                           "the session with a higher limit (ulimit -Hn)",
                           descriptors.limit)}
      .message;
}

std::string UnservedText(std::string_view why) {
  return Error{fmt::format("it is not traced: {}", why)}.message;
}

EndedBounds BoundsOfEnded() {
  const std::uint64_t share = MemoryLimit() / SessionProcesses::kShareOfMemory;
  return {std::min(share, SessionProcesses::kMostEndedBytes), SessionProcesses::kMostEnded};
}

}  // namespace

std::string OtherUserText(unsigned uid) {
  return Error{
      fmt::format("it is another user's (UID {0}), and the session traces only this "
                  "user's; to trace that user's as well, start the session with --user {0}",
                  uid)}
      .message;
}

SessionImage::SessionImage(std::unique_ptr<RegionFile> region, const RegionOwner& owner,
                           Process process, ExecutedProgram program)
    : symbolizer_(IsRuntimeModule),
      image_({.region = std::move(region),
              .symbolizer = symbolizer_,
              .profiler = AnswerSnapshotRequests,
              .program = std::move(program)}),
      process_(process),
      generation_(owner.generation) {}

Expected<std::unique_ptr<SessionImage>> SessionImage::Trace(RegionOwner owner, Process process,
                                                            ExecutedProgram program) {
  // In a session, GoogleTest's stream of events belongs to the program; the listener reports tests.
  owner.boundaries = BoundarySource::kListener;
  LEAKGATE_TRY_ASSIGN(auto region, RegionFile::Create(owner));
  return std::unique_ptr<SessionImage>(
      new SessionImage(std::move(region), owner, process, std::move(program)));
}

ProcessStatus SessionImage::Status() const {
  ProcessStatus status = StatusOf(image_, IsOver() ? ImageLife::kOver : ImageLife::kExecuting);
  if (status.state == ProcessState::kEnded && image_.region().State() == AgentState::kAbsent) {
    status.state = ProcessState::kFailed;  // it ended before its agent had begun to trace
    status.problem = AgentFailureText(image_.region().Failure());
  }
  status.generation = generation_;
  status.begin_seconds = std::chrono::system_clock::to_time_t(image_.begin());
  status.recording_problem = RecordingProblem();
  status.start_time = process_.start_time;
  return status;
}

Expected<void> SessionImage::Record(const std::filesystem::path& path, const SessionRecording& how,
                                    const EventTimeUnit& unit) {
  const int pid = image_.pid();
  RecorderSetup setup{.process = DescribeProcess(image_.region(), pid, image_.program()),
                      .thread_name = [pid](int tid) { return NameOfThread(pid, tid); },
                      .unit = unit,
                      .request = how.request,
                      .path = path,
                      .existing = how.existing,
                      .has_ended = [this] { return IsOver(); }};
  setup.process.generation = generation_;
  LEAKGATE_TRY_ASSIGN(std::unique_ptr<EventBuffers> buffers,
                      EventBuffers::Attach(image_.region_file().fd()));
  LEAKGATE_TRY_ASSIGN(auto recorder,
                      EventRecorder::Start(image_.region(), std::move(buffers), std::move(setup)));
  recorder_ = std::move(recorder);
  recording_path_ = path;
  return {};
}

std::optional<Expected<RecordedFile>> SessionImage::FinishRecording() {
  if (recorder_ == nullptr) return std::nullopt;
  const std::unique_ptr<EventRecorder> recorder = std::move(recorder_);
  LEAKGATE_TRY_ASSIGN(RecordingClosing closing, recorder->Finish());
  return RecordedFile{recording_path_, std::move(closing)};
}

SessionProcesses::SessionProcesses(SessionScope scope, const StackSettings& stacks,
                                   DescriptorRoom descriptors, SessionRecording recording,
                                   DescribeProgram describe)
    : wanted_images_(std::move(scope.images)),
      users_(std::move(scope.users)),
      stacks_(stacks),
      descriptors_(descriptors),
      ended_bounds_(BoundsOfEnded()),
      recording_(std::move(recording)),
      describe_(std::move(describe)),
      unit_(recording_.IsAsked() ? ChooseEventTime() : EventTimeUnit{}) {
  for (const int pid : scope.pids) AddPid(pid);
}

bool SessionProcesses::IsNamed(int pid) const {
  const auto named = wanted_pids_.find(pid);
  return named != wanted_pids_.end() && named->second == StartTimeOf(pid);
}

bool SessionProcesses::IsWantedImage(const ExecutedProgram& program) const {
  return std::any_of(wanted_images_.begin(), wanted_images_.end(),
                     [&](const ImageSelector& image) { return Selects(image, program); });
}

bool SessionProcesses::MayServe(const ControlPeer& peer) {
  if (IsThisUser(peer.uid) || users_.Has(peer.uid)) return true;
  const std::lock_guard lock(mutex_);
  if (IsNamed(peer.pid)) return true;
  std::optional<ExecutedProgram> program = describe_(peer.pid);
  if (program && !is_closed_ && IsWantedImage(*program)) {
    NoteUntraced(
        {.pid = peer.pid, .program = *std::move(program), .start_time = StartTimeOf(peer.pid)},
        OtherUserText(peer.uid));
  }
  return false;
}

HelloReply SessionProcesses::OnHello(const ControlPeer& peer) {
  const std::uint64_t start_time = StartTimeOf(peer.pid);
  const std::optional<ExecutedProgram> described = describe_(peer.pid);
  const std::string file = ImageOf(peer.pid);
  ExecutedProgram program = described.value_or(ExecutedProgram{file, {}, file});
  const std::lock_guard lock(mutex_);
  for (const auto& image : images_) {
    if (image->IsOf(peer.pid, start_time)) image->NoteReplaced();
  }
  if (is_closed_ || (!IsNamed(peer.pid) && !IsWantedImage(program))) {
    if (described) return {};
    NoteUntraced({.pid = peer.pid, .program = std::move(program), .start_time = start_time},
                 kTooSlow);
    return {};
  }
  program = Shortened(std::move(program));
  std::string problem;
  try {
    return Enable(peer, start_time, program);
  } catch (const std::exception& error) {  // no memory or no thread at the moment
    problem = UnservedText(
        fmt::format("the session's owner has no room for it: {}; raise the limits on memory and "
                    "processes (ulimit -v, -u)",
                    error.what()));
  }
  NoteUntraced({.pid = peer.pid, .program = std::move(program), .start_time = start_time},
               std::move(problem));
  return {};
}

HelloReply SessionProcesses::Enable(const ControlPeer& peer, std::uint64_t start_time,
                                    ExecutedProgram program) {
  const int pid = peer.pid;
  const auto refuse = [&](std::string problem) {
    NoteUntraced({.pid = pid, .program = program, .start_time = start_time}, std::move(problem));
    return HelloReply{};
  };
  KeepBounds(ended_bounds_);
  if (!MakeRoom()) return refuse(NoRoomText(descriptors_));
  EventRequest events = recording_.request;
  events.clock = unit_.clock;
  events.time_shift = unit_.shift;
  auto image = SessionImage::Trace({.pid = pid,
                                    .generation = NextGeneration(pid),
                                    .stack_depth = stacks_.depth,
                                    .stack_events = stacks_.events,
                                    .events = events},
                                   {peer.uid, start_time}, program);
  if (!image) return refuse(image.error().message);
  if (recording_.IsAsked()) {
    const Expected<void> recorded = (*image)->Record(RecordingPath(**image), recording_, unit_);
    if (!recorded) return refuse(recorded.error().message);
  }
  const auto is_it = [&](const ProcessStatus& it) {
    return it.pid == pid && it.start_time == start_time;
  };
  awaited_.remove_if(is_it);
  untraced_.remove_if(is_it);
  images_.push_back(*std::move(image));
  return {.region_fd = images_.back()->traced().region_fd()};
}

std::uint32_t SessionProcesses::NextGeneration(int pid) {
  constexpr std::size_t kMostRemembered = std::size_t{1} << 16;
  if (generations_.size() >= kMostRemembered && !generations_.contains(pid)) {
    for (const auto& [number, last] : generations_) {
      least_generation_ = std::max(least_generation_, last);
    }
    generations_.clear();
  }
  return ++generations_.try_emplace(pid, least_generation_).first->second;
}

void SessionProcesses::NoteUnserved(const ControlPeer& peer, const std::string& why) {
  const std::string file = ImageOf(peer.pid);
  ProcessStatus process{.pid = peer.pid,
                        .program = describe_(peer.pid).value_or(ExecutedProgram{file, {}, file}),
                        .start_time = StartTimeOf(peer.pid)};
  const std::lock_guard lock(mutex_);
  NoteUntraced(std::move(process), UnservedText(why));
}

void SessionProcesses::NoteFailure(const std::string& why) {
  const std::lock_guard lock(mutex_);
  failure_ = why;
}

std::string SessionProcesses::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

// Files that an earlier session left there are not touched.
std::filesystem::path SessionProcesses::RecordingPath(const SessionImage& image) const {
  const auto again = [](std::uint32_t number) {
    return number == 1 ? "" : fmt::format("-{}", number);
  };
  if (!recording_.file.empty()) return PathText(recording_.file) + again(image.generation());
  const std::string name = FileNameIn(image.traced().program().name);
  for (std::uint32_t number = image.generation();; ++number) {
    const std::filesystem::path path =
        recording_.directory /
        fmt::format("{}-{}{}.recording", name, image.traced().pid(), again(number));
    const bool is_being_written = std::any_of(images_.begin(), images_.end(), [&](const auto& it) {
      return it->recording_path() == path;
    });
    std::error_code unknown;
    const bool exists = std::filesystem::exists(std::filesystem::symlink_status(path, unknown));
    if (!is_being_written && !exists) return path;
  }
}

void SessionProcesses::TakeRecording(SessionImage& image) {
  std::optional<Expected<RecordedFile>> finished = image.FinishRecording();
  if (!finished) return;
  if (*finished) {
    finished_.files.push_back(**std::move(finished));
  } else {
    finished_.problems.push_back(finished->error().message);
  }
}

SessionProcesses::Recordings SessionProcesses::FinishRecordings() {
  const std::lock_guard lock(mutex_);
  for (const auto& image : images_) TakeRecording(*image);
  return std::exchange(finished_, {});
}

void SessionProcesses::NoteUntraced(ProcessStatus process, std::string problem) {
  process.program = Shortened(std::move(process.program));
  process.state = ProcessState::kFailed;
  process.problem = std::move(problem);
  untraced_.remove_if([&](const ProcessStatus& it) {
    return it.pid == process.pid && it.start_time == process.start_time;
  });
  untraced_.push_back(std::move(process));
  if (untraced_.size() <= kMostEnded) return;
  untraced_.pop_front();
  ++forgotten_untraced_;
}

bool SessionProcesses::AwaitsLastSnapshot(const SessionImage& image) const {
  return has_last_snapshots_ && !image.has_last_snapshot &&
         image.Status().state == ProcessState::kEnded;
}

void SessionProcesses::ForgetImage(Images::iterator image) {
  constexpr std::size_t kMostTold = 4096;
  TakeRecording(**image);
  if (finished_.files.size() > kMostTold) finished_.files.erase(finished_.files.begin());
  if (finished_.problems.size() > kMostTold) finished_.problems.erase(finished_.problems.begin());
  let_go_.emplace_back((*image)->traced().pid(), (*image)->process().start_time);
  if (let_go_.size() > kMostTold) let_go_.pop_front();
  without_last_ += AwaitsLastSnapshot(**image);
  ++forgotten_;
  images_.erase(image);
}

void SessionProcesses::KeepBounds(const EndedBounds& bounds) {
  std::vector<Images::iterator> ended;
  std::vector<EndedRegion> regions;
  for (auto image = images_.begin(); image != images_.end(); ++image) {
    if (!(*image)->IsOver()) continue;
    (*image)->StopAnswering();
    ended.push_back(image);
    regions.push_back(
        {(*image)->process().uid, (*image)->traced().HeldBytes(), AwaitsLastSnapshot(**image)});
  }
  for (const std::size_t place : RegionsToRelease(regions, bounds)) ForgetImage(ended[place]);
}

bool SessionProcesses::MakeRoom() {
  while (!descriptors_.Has(TracedImage::kDescriptors)) {
    const std::size_t before = images_.size();
    const auto ended = static_cast<std::size_t>(std::count_if(
        images_.begin(), images_.end(), [](const auto& image) { return image->IsOver(); }));
    if (ended == 0) return false;
    constexpr std::uint64_t kAnyBytes = UINT64_MAX / 2;
    KeepBounds({kAnyBytes, ended - 1});
    // All ended ones are awaited by the ring.
    if (images_.size() == before) KeepBounds({kAnyBytes, (ended - 1) / 2});
  }
  return true;
}

void SessionProcesses::LookAtEnded() {
  const std::lock_guard lock(mutex_);
  KeepBounds(ended_bounds_);
}

void SessionProcesses::KeepForLastSnapshots() {
  const std::lock_guard lock(mutex_);
  has_last_snapshots_ = true;
}

std::vector<ProcessStatus> SessionProcesses::WithoutLastSnapshot() const {
  const std::lock_guard lock(mutex_);
  std::vector<ProcessStatus> processes;
  for (const auto& image : images_) {
    if (image->IsOver() && AwaitsLastSnapshot(*image)) processes.push_back(image->Status());
  }
  return processes;
}

void SessionProcesses::NoteLastSnapshot(const ProcessStatus& process) {
  const std::lock_guard lock(mutex_);
  for (const auto& image : images_) {
    const bool is_it =
        image->traced().pid() == process.pid && image->generation() == process.generation;
    if (is_it) image->has_last_snapshot = true;
  }
}

void SessionProcesses::AddImage(const ImageSelector& image) {
  const std::lock_guard lock(mutex_);
  const auto known = std::find(wanted_images_.begin(), wanted_images_.end(), image);
  if (known == wanted_images_.end()) wanted_images_.push_back(image);
}

bool SessionProcesses::DropImage(const ImageSelector& image) {
  const std::lock_guard lock(mutex_);
  return std::erase(wanted_images_, image) != 0;
}

void SessionProcesses::AddPid(int pid) {
  const std::lock_guard lock(mutex_);
  wanted_pids_[pid] = StartTimeOf(pid);
}

bool SessionProcesses::DropPid(int pid) {
  const std::lock_guard lock(mutex_);
  return wanted_pids_.erase(pid) != 0;
}

SessionScope SessionProcesses::scope() const {
  const std::lock_guard lock(mutex_);
  SessionScope scope{wanted_images_, {}, users_};
  for (const auto& [pid, start] : wanted_pids_) {
    if (IsNamed(pid)) scope.pids.insert(pid);
  }
  return scope;
}

bool SessionProcesses::IsWanted(const ExecutedProgram& program) const {
  const std::lock_guard lock(mutex_);
  return IsWantedImage(program);
}

void SessionProcesses::NoteProgram(ProcessStatus program) {
  const std::lock_guard lock(mutex_);
  constexpr std::size_t kManyAwaited = 512;
  if (awaited_.size() % kManyAwaited == kManyAwaited - 1) LookAtAwaited();
  const bool has_asked =
      std::any_of(images_.begin(), images_.end(),
                  [&](const auto& image) {
                    return image->IsOf(program.pid, program.start_time) &&
                           std::chrono::system_clock::to_time_t(image->traced().begin()) >=
                               program.begin_seconds;
                  }) ||
      std::find(let_go_.begin(), let_go_.end(), std::pair{program.pid, program.start_time}) !=
          let_go_.end();
  if (program.state == ProcessState::kStarting) {
    program.program = Shortened(std::move(program.program));
    if (!has_asked) awaited_.push_back(std::move(program));
    return;
  }
  std::string problem = program.problem.empty() ? kEndedTooEarly : std::move(program.problem);
  NoteUntraced(std::move(program), std::move(problem));
}

void SessionProcesses::NoteUnreported(std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  forgotten_untraced_ += count;
}

void SessionProcesses::LookAtAwaited() {
  for (auto it = awaited_.begin(); it != awaited_.end();) {
    const auto next = std::next(it);
    if (StartTimeOf(it->pid) != it->start_time || HasDied(it->pid, it->pid)) {
      NoteUntraced(std::move(*it), kEndedTooEarly);
      awaited_.erase(it);
    }
    it = next;
  }
}

std::vector<ProcessStatus> SessionProcesses::Query() {
  constexpr std::size_t kMostText = std::size_t{2} << 20;
  constexpr std::size_t kLeastText = 64;  // of each
  const std::lock_guard lock(mutex_);
  LookAtAwaited();
  std::vector<ProcessStatus> all;
  for (const auto& image : images_) all.push_back(image->Status());
  all.insert(all.end(), awaited_.begin(), awaited_.end());
  all.insert(all.end(), untraced_.begin(), untraced_.end());
  const std::size_t most = std::max(kMostText / (all.size() + 1), kLeastText);
  if (most >= kMostToldBytes) return all;
  for (ProcessStatus& process : all) {
    process.program = Shortened(std::move(process.program), most);
  }
  return all;
}

std::uint64_t SessionProcesses::untraced() const {
  const std::lock_guard lock(mutex_);
  return untraced_.size() + forgotten_untraced_;
}

void SessionProcesses::Close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
}

bool SessionProcesses::IsAnyStarting() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(images_.begin(), images_.end(), [](const auto& image) {
    return image->Status().state == ProcessState::kStarting;
  });
}

SessionProcesses::Ended SessionProcesses::ended() const {
  const std::lock_guard lock(mutex_);
  Ended ended{forgotten_, 0, ended_bounds_.bytes, without_last_};
  for (const auto& image : images_) {
    if (image->IsOver()) ended.bytes += image->traced().HeldBytes();
  }
  return ended;
}

std::optional<ProcessRegion> SessionProcesses::RegionOf(int pid, std::uint32_t generation) const {
  const std::lock_guard lock(mutex_);
  const auto newest = std::find_if(images_.rbegin(), images_.rend(), [&](const auto& image) {
    return image->traced().pid() == pid && (generation == 0 || image->generation() == generation);
  });
  if (newest == images_.rend()) return std::nullopt;
  return ProcessRegion{(*newest)->Status(), (*newest)->traced().DuplicateRegion()};
}

std::vector<int> SessionProcesses::TracedPids() const {
  const std::lock_guard lock(mutex_);
  std::vector<int> pids;
  for (const auto& image : images_) {
    if (image->Status().state == ProcessState::kTracing) pids.push_back(image->traced().pid());
  }
  return pids;
}

bool SessionProcesses::IsTraced(int pid) const {
  const std::vector<int> pids = TracedPids();
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

}  // namespace leakgate
