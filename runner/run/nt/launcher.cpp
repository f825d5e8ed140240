#include "runner/run/launcher.h"

#include <fmt/format.h>

#include "runner/base/nt/win32.h"
#include "runner/process/image_inspection.h"
#include "runner/process/nt/process_job.h"
#include "runner/process/process_image.h"
#include "runner/run/nt/start_process.h"

namespace leakgate {
namespace {

Error LaunchError(const std::filesystem::path& program) {
  const DWORD error = GetLastError();
  if (error == ERROR_BAD_EXE_FORMAT || error == ERROR_EXE_MACHINE_TYPE_MISMATCH) {
    const Expected<ImageInspection> image = InspectImage(program);
    if (image && image->refusal) {
      return {fmt::format("{}: cannot be traced: {}", Utf8Of(program.native()), *image->refusal),
              ExitCode::kInconclusive};
    }
  }
  const bool is_for_want_of_room =
      error == ERROR_NOT_ENOUGH_MEMORY || error == ERROR_COMMITMENT_LIMIT;
  return {
      fmt::format("{}: cannot be executed: {}", Utf8Of(program.native()), WindowsErrorText(error)),
      is_for_want_of_room ? ExitCode::kInconclusive : ExitCode::kUsage};
}

}  // namespace

Expected<std::unique_ptr<SuspendedProcess>> SuspendedProcess::Launch(const LaunchRequest& request) {
  const UniqueFd sink = request.streams == Streams::kNone ? OpenSink() : UniqueFd();
  const DWORD group = request.group == ProcessGroup::kOwn ? CREATE_NEW_PROCESS_GROUP : 0;
  const DWORD debugged = request.debugged == Debugged::kYes ? DEBUG_PROCESS : 0;
  std::optional<StartedProcess> started =
      StartProcess({.program = request.program,
                    .name = request.name,
                    .arguments = request.arguments,
                    .environment = request.environment,
                    .flags = CREATE_SUSPENDED | group | debugged,
                    .output = sink ? HandleOf(sink) : nullptr});
  if (!started) return Unexpected(LaunchError(request.program));
  std::unique_ptr<SuspendedProcess> launched(new SuspendedProcess(started->pid));
  launched->process_ = std::move(started->process);
  launched->thread_ = std::move(started->thread);
  LEAKGATE_TRY(PutIntoJob(launched->process_, launched->pid_));
  return launched;
}

SuspendedProcess::~SuspendedProcess() {
  if (is_resumed_ || !process_) return;
  TerminateProcess(HandleOf(process_), 1);
  WaitForSingleObject(HandleOf(process_), INFINITE);
}

std::filesystem::path SuspendedProcess::image() const { return WideOf(ImageOf(pid_)); }

Expected<void> SuspendedProcess::Resume() {
  if (ResumeThread(HandleOf(thread_)) == static_cast<DWORD>(-1)) {
    return InconclusiveError(fmt::format("cannot resume PID {}: {}", pid_, WindowsErrorText()));
  }
  is_resumed_ = true;
  return {};
}

std::optional<ProgramExit> SuspendedProcess::Poll() {
  DWORD code = 0;
  if (WaitForSingleObject(HandleOf(process_), 0) != WAIT_OBJECT_0 ||
      !GetExitCodeProcess(HandleOf(process_), &code)) {
    return std::nullopt;
  }
  return ProgramExit{.exit_code = static_cast<int>(code), .signal = {}};
}

struct InheritedState::Saved {};

InheritedState InheritedState::Take() { return {}; }
std::optional<std::uint64_t> InheritedState::AddressSpaceLimit() const { return std::nullopt; }
void InheritedState::Restore() const noexcept {}

}  // namespace leakgate
