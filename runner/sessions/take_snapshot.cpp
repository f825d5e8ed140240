#include "runner/sessions/take_snapshot.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <system_error>

#include "runner/base/path_text.h"
#include "runner/process/proc_files.h"
#include "runner/process/process_image.h"
#include "runner/reach/process_stop.h"
#include "runner/sessions/session_client.h"
#include "runner/snapshot/file/describe_process.h"

namespace leakgate {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

// Until tracing has begun, the region says nothing about the process.
Expected<void> RequireTraced(const RegionReader& region, int pid) {
  if (region.State() == AgentState::kTracing) return {};
  if (region.State() == AgentState::kFailed) {
    return InconclusiveError(
        fmt::format("PID {} could not be traced: {}", pid, AgentFailureText(region.Failure())));
  }
  return InconclusiveError(fmt::format("PID {} has not begun to be traced; try again", pid));
}

}  // namespace

Expected<SnapshotSubject> SnapshotSubject::Find(int pid, const std::string& name) {
  LEAKGATE_TRY_ASSIGN(FoundProcess found,
                      name.empty() ? FindProcess(pid) : ProcessOfSession(name, pid));
  return Of(std::move(found));
}

Expected<SnapshotSubject> SnapshotSubject::Of(FoundProcess process) {
  SnapshotSubject subject;
  subject.process_ = std::make_unique<FoundProcess>(std::move(process));
  LEAKGATE_TRY_ASSIGN(RegionReader region, RegionReader::Attach(subject.process_->region));
  subject.region_ = std::make_unique<RegionReader>(std::move(region));
  LEAKGATE_TRY(RequireTraced(*subject.region_, subject.process_->status.pid));
  if (!subject.process_->HasEnded()) subject.end_ = WatchEnd(subject.process_->status.pid);
  return subject;
}

bool SnapshotSubject::HasEnded() const { return leakgate::HasEnded(end_); }

Expected<SnapshotSubject::Taken> SnapshotSubject::Take(const fs::path& path,
                                                       SnapshotCare care) const {
  const bool has_ended = HasEnded();
  const bool stops = !has_ended && care == SnapshotCare::kConsistent;
  const Clock::time_point begin = Clock::now();
  LEAKGATE_TRY_ASSIGN(
      const SnapshotClosing closing,
      stops ? WriteStopped(path)
            : Write(path, has_ended ? SnapshotMoment::kEnded : SnapshotMoment::kRunning));
  return Taken{closing, stops ? Clock::now() - begin : std::chrono::nanoseconds{}};
}

Expected<std::string> SnapshotSubject::Text(Pages pages) const {
  const SnapshotMoment moment = HasEnded() ? SnapshotMoment::kEnded : SnapshotMoment::kRunning;
  SnapshotRequest request = RequestFor(moment);
  request.pages = pages;
  return SnapshotText(*region_, request);
}

SnapshotRequest SnapshotSubject::RequestFor(SnapshotMoment moment) const {
  SnapshotRequest request{DescribeProcess(*region_, process_->status.pid, process_->status.program),
                          nullptr};
  request.facts.moment = moment;
  if (const std::uint64_t attached = region_->AttachedAtNs(); attached != 0) {
    constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
    request.facts.not_recorded.push_back(
        fmt::format("what was allocated before {:%Y-%m-%d %H:%M:%S} UTC, when tracing began",
                    fmt::gmtime(static_cast<std::time_t>(attached / kNsPerSecond))));
  }
  if (moment != SnapshotMoment::kEnded) {
    request.thread_name = [pid = process_->status.pid](int tid) { return NameOfThread(pid, tid); };
  }
  return request;
}

Expected<SnapshotClosing> SnapshotSubject::Write(
    const fs::path& path, SnapshotMoment moment,
    const std::function<Expected<void>()>& copied) const {
  SnapshotRequest request = RequestFor(moment);
  request.copied = copied;
  return WriteSnapshot(*region_, request, path);
}

// A run's process is stopped by the run, because a process can have only one tracer. If the run
// lets it continue too early, no file is written.
Expected<SnapshotClosing> SnapshotSubject::WriteStopped(const fs::path& path) const {
  if (process_->run_pid == 0) {
    LEAKGATE_TRY_ASSIGN(const std::unique_ptr<ProcessStop> stop,
                        ProcessStop::Stop(process_->status.pid));
    return Write(path, SnapshotMoment::kStopped, [&]() -> Expected<void> {
      if (stop->HasStoodStill()) return {};
      return WokenError(process_->status.pid);
    });
  }
  LEAKGATE_TRY_ASSIGN(RunHold hold, RunHold::Take(process_->run_pid, process_->status.pid));
  return Write(path, SnapshotMoment::kStopped, [&] { return hold.Release(); });
}

bool IsSnapshotFile(const fs::path& output) {
  std::error_code unknown;
  const fs::file_status status = fs::status(output, unknown);
  if (fs::is_directory(status)) return false;
  return fs::exists(status) || output.extension() == ".snapshot";
}

Expected<void> MakeSnapshotDirectory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (fs::is_directory(directory, error)) return {};
  return UsageError(fmt::format("-o {}: no directory can be made there: {}; name another",
                                PathText(directory), error.message()));
}

Expected<fs::path> PlaceOfSnapshot(const fs::path& output, const FoundProcess& process) {
  if (!output.empty() && IsSnapshotFile(output)) {
    std::error_code unknown;
    // It does not exist yet, or is a terminal or a FIFO.
    if (!fs::is_regular_file(output, unknown)) return output;
    return UsageError(fmt::format(
        "-o {}: exists already; remove it, or name another file or a directory", PathText(output)));
  }
  const fs::path directory = output.empty() ? "." : output;
  LEAKGATE_TRY(MakeSnapshotDirectory(directory));
  const std::string stem =
      fmt::format("{}-{}-{:%Y%m%dT%H%M%S}", FileNameIn(process.status.program.name),
                  process.status.pid, fmt::localtime(std::time(nullptr)));
  std::error_code unknown;
  std::string name = stem + ".snapshot";
  for (int i = 2; fs::exists(fs::symlink_status(directory / name, unknown)); ++i) {
    name = fmt::format("{}-{}.snapshot", stem, i);
  }
  return output.empty() ? fs::path(name) : output / name;
}

}  // namespace leakgate
