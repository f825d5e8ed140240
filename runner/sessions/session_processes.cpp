#include "runner/sessions/session_processes.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/attribution/code_owner.h"
#include "runner/process/proc_files.h"
#include "runner/report/left_behind_text.h"
#include "runner/snapshot/file/linux/describe_process.h"

namespace leakgate {
namespace {

constexpr const char* kTooSlow =
    "what it executes could not be read in time, so nobody knows whether it is wanted; a file "
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

ProcessStatus StatusOf(const SessionImage& image) {
  const TracedImage& traced = image.traced();
  ProcessStatus status =
      StatusOf(traced, image.IsOver() ? ImageLife::kOver : ImageLife::kExecuting);
  if (status.state == ProcessState::kEnded && traced.region().State() == AgentState::kAbsent) {
    status.state = ProcessState::kFailed;  // it ended before its agent had begun to trace
    status.problem = AgentFailureText(traced.region().Failure());
  }
  status.begin_seconds = std::chrono::system_clock::to_time_t(traced.begin());
  return status;
}

}  // namespace

std::string OtherUserText(unsigned uid) {
  return Error{
      fmt::format("it is another user's (UID {0}), and the session traces only this "
                  "user's; to trace that user's as well, start the session with --user {0}",
                  uid)}
      .message;
}

SessionImage::SessionImage(std::unique_ptr<RegionFile> region, ExecutedProgram program)
    : image_(std::move(region), std::move(program)),
      symbolizer_(IsRuntimeModule),
      meter_(image_.region(), symbolizer_, MeasurementTextHere),
      snapshots_(image_.region()),
      answers_(std::make_unique<MailboxServer>(image_.region_file().mailbox(),
                                               [this](Mailbox& mailbox) { Answer(mailbox); })) {}

void SessionImage::Answer(Mailbox& mailbox) {
  AnswerNothing(mailbox);
  if (!meter_.Answer(mailbox)) (void)snapshots_.Answer(mailbox);
}

Expected<std::unique_ptr<SessionImage>> SessionImage::Trace(RegionOwner owner,
                                                            ExecutedProgram program) {
  // GoogleTest's stream of events is the program's own here; the listener tells of tests.
  owner.boundaries = BoundarySource::kListener;
  auto region = RegionFile::Create(owner);
  if (!region) return Unexpected(region.error());
  return std::unique_ptr<SessionImage>(new SessionImage(*std::move(region), std::move(program)));
}

Expected<void> SessionImage::Record(const std::filesystem::path& path, const SessionRecording& how,
                                    const EventTimeUnit& unit) {
  const int pid = image_.pid();
  RecorderSetup setup{.process = DescribeProcess(image_.region(), pid),
                      .thread_name = [pid](int tid) { return NameOfThread(pid, tid); },
                      .unit = unit,
                      .request = how.request,
                      .path = path,
                      .existing = how.existing,
                      .has_ended = [this] { return IsOver(); }};
  Expected<std::unique_ptr<EventBuffers>> buffers = EventBuffers::Attach(image_.region_file().fd());
  if (!buffers) return Unexpected(buffers.error());
  auto recorder = EventRecorder::Start(image_.region(), *std::move(buffers), std::move(setup));
  if (!recorder) return Unexpected(recorder.error());
  recorder_ = *std::move(recorder);
  recording_path_ = path;
  return {};
}

std::optional<Expected<RecordedFile>> SessionImage::FinishRecording() {
  if (recorder_ == nullptr) return std::nullopt;
  const std::unique_ptr<EventRecorder> recorder = std::move(recorder_);
  Expected<RecordingClosing> closing = recorder->Finish();
  if (!closing) return Unexpected(closing.error());
  return RecordedFile{recording_path_, *std::move(closing)};
}

SessionProcesses::SessionProcesses(SessionScope scope, const StackSettings& stacks,
                                   DescriptorRoom descriptors, SessionRecording recording,
                                   DescribeProgram describe)
    : wanted_images_(std::move(scope.images)),
      users_(std::move(scope.users)),
      stacks_(stacks),
      descriptors_(descriptors),
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
    NoteUntraced(peer.pid, *std::move(program), OtherUserText(peer.uid));
  }
  return false;
}

HelloReply SessionProcesses::OnHello(int pid) {
  const std::optional<ExecutedProgram> described = describe_(pid);
  const std::string image_path = ImageOf(pid);
  ExecutedProgram program = described.value_or(ExecutedProgram{image_path, {}, image_path});
  const std::lock_guard lock(mutex_);
  for (const auto& image : images_) {
    if (image->traced().pid() == pid) image->NoteReplaced();
  }
  if (is_closed_ || (!IsNamed(pid) && !IsWantedImage(program))) {
    if (!described) NoteUntraced(pid, std::move(program), kTooSlow);
    return {};
  }
  if (!MakeRoom()) {
    NoteUntraced(pid, std::move(program), NoRoomText(descriptors_));
    return {};
  }
  const auto generation = static_cast<std::uint32_t>(
      std::count_if(images_.begin(), images_.end(),
                    [pid](const auto& image) { return image->traced().pid() == pid; }));
  EventRequest events = recording_.request;
  events.clock = unit_.clock;
  events.time_shift = unit_.shift;
  auto image = SessionImage::Trace({.pid = pid,
                                    .generation = generation + 1,
                                    .stack_depth = stacks_.depth,
                                    .stack_events = stacks_.events,
                                    .events = events},
                                   program);
  if (!image) {
    NoteUntraced(pid, std::move(program), image.error().message);
    return {};
  }
  if (recording_.IsAsked()) {
    const Expected<void> recorded = (*image)->Record(RecordingPath(**image), recording_, unit_);
    if (!recorded) {
      NoteUntraced(pid, std::move(program), recorded.error().message);
      return {};
    }
  }
  awaited_.remove_if([pid](const Awaited& it) { return it.status.pid == pid; });
  untraced_.remove_if([pid](const ProcessStatus& it) { return it.pid == pid; });
  images_.push_back(*std::move(image));
  ForgetOldest();
  return {.region_fd = images_.back()->traced().region_fd()};
}

std::filesystem::path SessionProcesses::RecordingPath(const SessionImage& image) const {
  const std::uint32_t generation = image.traced().region().Generation();
  const std::string again = generation == 1 ? "" : fmt::format("-{}", generation);
  if (!recording_.file.empty()) return recording_.file.string() + again;
  const std::string name = std::filesystem::path(image.traced().program().name).filename().string();
  return recording_.directory / fmt::format("{}-{}{}.recording", name, image.traced().pid(), again);
}

SessionProcesses::Recordings SessionProcesses::FinishRecordings() {
  const std::lock_guard lock(mutex_);
  Recordings all;
  for (const auto& image : images_) {
    std::optional<Expected<RecordedFile>> finished = image->FinishRecording();
    if (!finished) continue;
    if (*finished) {
      all.files.push_back(**std::move(finished));
    } else {
      all.problems.push_back(finished->error().message);
    }
  }
  return all;
}

void SessionProcesses::NoteUntraced(int pid, ExecutedProgram program, std::string problem) {
  untraced_.remove_if([pid](const ProcessStatus& it) { return it.pid == pid; });
  untraced_.push_back({.pid = pid,
                       .program = std::move(program),
                       .state = ProcessState::kFailed,
                       .problem = std::move(problem)});
  if (untraced_.size() <= kMostEnded) return;
  untraced_.pop_front();
  ++forgotten_untraced_;
}

bool SessionProcesses::ForgetOneEnded() {
  const auto oldest = std::find_if(images_.begin(), images_.end(),
                                   [](const auto& image) { return image->IsOver(); });
  if (oldest == images_.end()) return false;
  images_.erase(oldest);
  ++forgotten_;
  return true;
}

bool SessionProcesses::MakeRoom() {
  while (!descriptors_.Has(TracedImage::kDescriptors)) {
    if (!ForgetOneEnded()) return false;
  }
  return true;
}

void SessionProcesses::ForgetOldest() {
  std::size_t ended = 0;
  for (const auto& image : images_) {
    if (!image->IsOver()) continue;
    image->StopAnswering();
    ++ended;
  }
  for (auto it = images_.begin(); it != images_.end() && ended > kMostEnded;) {
    const bool is_over = (*it)->IsOver();
    it = is_over ? images_.erase(it) : std::next(it);
    ended -= is_over;
    forgotten_ += is_over;
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
  const std::uint64_t start_time = StartTimeOf(program.pid);
  const std::lock_guard lock(mutex_);
  constexpr std::size_t kManyAwaited = 512;
  if (awaited_.size() % kManyAwaited == kManyAwaited - 1) LookAtAwaited();
  const bool has_asked = std::any_of(images_.begin(), images_.end(), [&](const auto& image) {
    return image->traced().pid() == program.pid &&
           std::chrono::system_clock::to_time_t(image->traced().begin()) >= program.begin_seconds;
  });
  const bool is_traced = program.state == ProcessState::kStarting && has_asked;
  if (is_traced) return;
  if (program.state == ProcessState::kStarting && start_time != 0) {
    awaited_.push_back({std::move(program), start_time});
    return;
  }
  NoteUntraced(program.pid, std::move(program.program),
               program.problem.empty() ? kEndedTooEarly : std::move(program.problem));
}

void SessionProcesses::LookAtAwaited() {
  for (auto it = awaited_.begin(); it != awaited_.end();) {
    const auto next = std::next(it);
    ProcessStatus& status = it->status;
    if (StartTimeOf(status.pid) != it->start_time || HasDied(status.pid, status.pid)) {
      NoteUntraced(status.pid, std::move(status.program), kEndedTooEarly);
      awaited_.erase(it);
    }
    it = next;
  }
}

std::vector<ProcessStatus> SessionProcesses::Query() {
  const std::lock_guard lock(mutex_);
  LookAtAwaited();
  std::vector<ProcessStatus> all;
  for (const auto& image : images_) all.push_back(StatusOf(*image));
  for (const Awaited& awaited : awaited_) all.push_back(awaited.status);
  all.insert(all.end(), untraced_.begin(), untraced_.end());
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
    return StatusOf(*image).state == ProcessState::kStarting;
  });
}

std::uint64_t SessionProcesses::forgotten() const {
  const std::lock_guard lock(mutex_);
  return forgotten_;
}

std::optional<ProcessRegion> SessionProcesses::RegionOf(int pid, std::uint32_t generation) const {
  const std::lock_guard lock(mutex_);
  const auto newest = std::find_if(images_.rbegin(), images_.rend(), [&](const auto& image) {
    return image->traced().pid() == pid &&
           (generation == 0 || image->traced().region().Generation() == generation);
  });
  if (newest == images_.rend()) return std::nullopt;
  return ProcessRegion{StatusOf(**newest), (*newest)->traced().DuplicateRegion()};
}

std::vector<int> SessionProcesses::TracedPids() const {
  const std::lock_guard lock(mutex_);
  std::vector<int> pids;
  for (const auto& image : images_) {
    if (StatusOf(*image).state == ProcessState::kTracing) pids.push_back(image->traced().pid());
  }
  return pids;
}

bool SessionProcesses::IsTraced(int pid) const {
  const std::vector<int> pids = TracedPids();
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

}  // namespace leakgate
