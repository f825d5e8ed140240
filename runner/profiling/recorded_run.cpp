#include "runner/profiling/recorded_run.h"

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <utility>

#include "runner/attach/program_environment.h"
#include "runner/attribution/code_owner.h"
#include "runner/base/path_text.h"
#include "runner/host/traced_image.h"
#include "runner/profiling/recorded_image.h"
#include "runner/run/launched_program.h"
#include "runner/run/preparation.h"
#include "runner/run/program_watch.h"

namespace leakgate {
namespace {

class RecordedRun {
 public:
  RecordedRun(const RecordRequest& request, std::filesystem::path program,
              const InheritedState& inherited)
      : request_(request),
        program_(std::move(program)),
        inherited_(inherited),
        linked_(FrameworkOf(program_)),
        unit_(ChooseEventTime()) {}

  Expected<RecordOutcome> Run() {
    const BlockedSignals signals;
    GroupWitness witness(signals.blocked());
    LaunchRequest process{.program = program_,
                          .name = request_.program,
                          .arguments = request_.arguments,
                          .environment = OwnEnvironment(),
                          .signal_mask = signals.original(),
                          .inherited = inherited_};
    LEAKGATE_TRY_ASSIGN(const auto program,
                        LaunchedProgram::Launch({.process = std::move(process),
                                                 .agent = request_.agent,
                                                 .refused = Refused::kUntraceable,
                                                 .on_hello = [this](const ControlPeer& peer) {
                                                   return OnHello(peer.pid);
                                                 }}));
    pid_ = program->pid();
    LEAKGATE_TRY(program->Resume([this] { return Processes(); }));
    ProgramWatch watch(program->process(), signals, witness);
    RecordOutcome outcome;
    outcome.program = watch.WaitUntil(std::nullopt).value();
    const OwnEndSignals own_signals(watch.TakeLateRequest());
    Conclude(program->StopServing(), outcome);
    return outcome;
  }

 private:
  // The file is for the program that is executed last: those before are scripts and launchers
  // mostly. Theirs get a number that is not in use.
  void MoveAside(RecordedImage& image) {
    std::error_code failure;
    std::filesystem::path path;
    do {
      path = request_.output;
      path += fmt::format(".before{}", ++moved_aside_);
    } while (std::filesystem::exists(std::filesystem::symlink_status(path, failure)));
    std::filesystem::rename(image.path(), path, failure);
    if (!failure) return image.NoteMovedTo(std::move(path));
    problems_.push_back(fmt::format("{}: cannot be renamed to {}: {}", PathText(image.path()),
                                    PathText(path), failure.message()));
  }

  // Called on the control server's thread.
  HelloReply OnHello(int pid) {
    if (pid != pid_) return {};
    const std::lock_guard lock(mutex_);
    if (!images_.empty()) MoveAside(*images_.back());
    Expected<std::unique_ptr<RecordedImage>> image = StartImage(pid);
    if (!image) {
      problems_.push_back(image.error().message);
      return {};
    }
    images_.push_back(*std::move(image));
    return {.region_fd = images_.back()->traced().region_fd()};
  }

  Expected<std::unique_ptr<RecordedImage>> StartImage(int pid) {
    EventRequest events = request_.events;
    events.clock = unit_.clock;
    events.time_shift = unit_.shift;
    // A program whose stream of events cannot be had is recorded without its tests.
    const bool has_stream = !linked_.has_listener &&
                            RequireFreeStream(request_.arguments, linked_) &&
                            StreamProblemOf(pid).empty();
    return RecordedImage::Start(
        {.pid = pid,
         .generation = static_cast<std::uint32_t>(images_.size()) + 1,
         .boundaries = has_stream ? BoundarySource::kStream : BoundarySource::kListener,
         .stack_depth = request_.stack_depth,
         .stack_events = request_.stack_events},
        {.process = {},
         .thread_name = {},
         .unit = unit_,
         .request = events,
         .path = request_.output,
         .existing = request_.existing},
        symbolizer_);
  }

  std::vector<ProcessRegion> Processes() {
    const std::lock_guard lock(mutex_);
    std::vector<ProcessRegion> processes;
    if (images_.empty()) return processes;
    const TracedImage& latest = images_.back()->traced();
    processes.push_back(
        latest.Describe(latest.HasEnded() ? ImageLife::kOver : ImageLife::kExecuting));
    return processes;
  }

  void Conclude(const std::string& server_failure, RecordOutcome& outcome) {
    outcome.problems = std::move(problems_);
    if (!server_failure.empty()) outcome.problems.push_back(server_failure);
    for (const auto& image : images_) {
      const RegionReader& region = image->traced().region();
      if (region.State() == AgentState::kFailed) {
        outcome.problems.push_back(AgentFailureText(region.Failure()));
      } else if (region.State() == AgentState::kAbsent) {
        outcome.problems.emplace_back("its agent did not begin to trace: nothing was recorded");
      }
      Expected<RecordingClosing> closing = image->Finish();
      if (closing) {
        outcome.files.push_back({image->path(), *std::move(closing)});
      } else {
        outcome.problems.push_back(closing.error().message);
      }
    }
    if (images_.empty() && outcome.problems.empty()) {
      outcome.problems.push_back(fmt::format(
          "{}: its agent did not ask to be traced: nothing was recorded; try leakgate doctor",
          request_.program));
    }
  }

  const RecordRequest& request_;
  const std::filesystem::path program_;
  const InheritedState& inherited_;
  const LinkedFramework linked_;
  const EventTimeUnit unit_;
  Symbolizer symbolizer_{IsRuntimeModule};  // of the texts of assertions
  std::atomic<int> pid_{0};
  std::mutex mutex_;  // protects the next two while the program runs
  std::vector<std::unique_ptr<RecordedImage>> images_;
  std::vector<std::string> problems_;
  int moved_aside_ = 0;
};

}  // namespace

Expected<RecordOutcome> Record(const RecordRequest& request) {
  const InheritedState inherited = InheritedState::Take();
  LEAKGATE_TRY_ASSIGN(const std::filesystem::path program, FindProgram(request.program));
  LEAKGATE_TRY(RequireAgent(request.agent));
  LEAKGATE_TRY(AtomicFile::CheckGrowing(request.output, request.existing));
  return RecordedRun(request, program, inherited).Run();
}

}  // namespace leakgate
