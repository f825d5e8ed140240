#include "runner/run/doctor.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>

#include "common/region_layout.h"
#include "runner/arch/processor.h"
#include "runner/attach/program_environment.h"
#include "runner/base/descriptors.h"
#include "runner/process/called_name.h"
#include "runner/process/proc_files.h"
#include "runner/process/process_image.h"
#include "runner/reach/linux/frozen_process.h"
#include "runner/region/region_file.h"
#include "runner/run/launcher.h"
#include "runner/run/preparation.h"
#include "runner/run/program_watch.h"

namespace leakgate {
namespace {

Check FromResult(std::string subject, const Expected<void>& result, std::string when_ok) {
  if (result) return {CheckResult::kOk, std::move(subject), std::move(when_ok)};
  return {CheckResult::kNo, std::move(subject), result.error().message};
}

Expected<void> DropValue(const auto& expected) {
  if (!expected) return Unexpected(expected.error());
  return {};
}

Expected<void> RequirePreloadable(const std::filesystem::path& agent) {
  const Expected<void> exists = RequireAgent(agent);
  if (!exists) return exists;
  return DropValue(ProgramEnvironment({}, {agent, "control"}));
}

Check CheckImage(const std::string& name, const Expected<ImageInspection>& inspection) {
  if (!inspection) return {CheckResult::kNo, "program", inspection.error().message};
  if (inspection->refusal) {
    return {CheckResult::kNo, "program", fmt::format("{}: {}", name, *inspection->refusal)};
  }
  return {CheckResult::kOk, "program",
          fmt::format("{}: {}, dynamically linked, {}", name, ProcessorName(),
                      inspection->has_own_allocator
                          ? "with an allocator of its own, whose functions are led to the agent"
                          : "no allocator of its own")};
}

// Launches the program and kills it before its first instruction.
Expected<void> TryToLaunch(const std::filesystem::path& program, const DoctorRequest& request,
                           const InheritedState& inherited) {
  const BlockedSignals signals;
  return DropValue(SuspendedProcess::Launch({.program = program,
                                             .name = request.program,
                                             .arguments = request.arguments,
                                             .environment = OwnEnvironment(),
                                             .signal_mask = signals.original(),
                                             .inherited = inherited}));
}

// A process that waits to be killed, for as long as this object lives.
class WaitingProcess {
 public:
  WaitingProcess() : pid_(::fork()) {
    if (pid_ == 0) WaitToBeKilled();
  }
  // Where a filter refuses kill, the process ends with this one.
  ~WaitingProcess() {
    if (pid_ > 0 && ::kill(pid_, SIGKILL) == 0) ::waitpid(pid_, nullptr, __WALL);
  }
  WaitingProcess(const WaitingProcess&) = delete;
  WaitingProcess& operator=(const WaitingProcess&) = delete;

  pid_t pid() const { return pid_; }  // less than 0: it could not be started

 private:
  [[noreturn]] void WaitToBeKilled() const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent_) ::_exit(0);
    for (;;) ::pause();
  }

  const pid_t parent_ = ::getpid();
  const pid_t pid_;
};

// Stops a process that is made for that, and reads what its threads hold: that is how lost memory
// is told from retained. The kernel, a container's filter or a debugger may forbid it; the error
// says what to do. REQUIRES: this process has one thread.
Expected<void> TryToStopProcess() {
  const WaitingProcess waiting;
  const pid_t pid = waiting.pid();
  if (pid < 0) return InconclusiveError(fmt::format("cannot start a process: {}", ErrnoText()));

  // Uses a thread of its own, as frozen_process.h advises.
  const auto freeze = [pid]() -> Expected<void> {
    const Expected<FrozenProcess> process = FrozenProcess::Freeze(pid);
    return process ? Expected<void>() : Unexpected(process.error());
  };
  Expected<void> stopped = std::async(std::launch::async, freeze).get();
  if (!stopped && YamaScope() > 1) {
    stopped.error().message +=
        fmt::format("; kernel.yama.ptrace_scope is {}: set it to 1", YamaScope());
  }
  return stopped;
}

// A run can do without this: it then cannot tell what is lost.
Check CheckStopping() {
  const Expected<void> stopped = TryToStopProcess();
  if (!stopped) {
    return {CheckResult::kWarning, "ptrace",
            "what is lost cannot be told: " + stopped.error().message};
  }
  return {CheckResult::kOk, "ptrace",
          "the program's threads can be stopped, so what is lost can be told"};
}

}  // namespace

Expected<std::vector<Check>> CheckProgram(const DoctorRequest& request) {
  const InheritedState inherited = InheritedState::Take();
  LEAKGATE_TRY_ASSIGN(const std::filesystem::path program, FindProgram(request.program));

  const std::filesystem::path image = ImageBehind(program.string());
  const Expected<ImageInspection> inspection = InspectImage(image);
  std::vector<Check> checks = {CheckImage(CalledName(program, image), inspection)};
  if (checks.front().result == CheckResult::kOk) {
    const Expected<void> launched = TryToLaunch(program, request, inherited);
    if (!launched && launched.error().exit_code == ExitCode::kUsage) {
      return Unexpected(launched.error());
    }
    checks.push_back(FromResult("launch", launched, "stops before its first instruction"));
  }
  checks.push_back(FromResult("agent", RequirePreloadable(request.agent), request.agent.string()));
  const LinkedFramework linked = inspection ? inspection->linked : LinkedFramework();
  checks.push_back(CheckFramework(linked));
  const Expected<void> stream = RequireFreeStream(request.arguments, linked);
  if (!stream) checks.push_back({CheckResult::kNo, "stream", stream.error().message});
  if (inspection && inspection->stream_problem) {
    checks.push_back({CheckResult::kNo, "stream", *inspection->stream_problem});
  }
  if (inspection) {
    const DebugFacts facts = ReadDebugFacts(image);
    checks.insert(checks.end(), {CheckSymbols(facts), CheckLines(facts), CheckUnwinding(facts)});
  }
  checks.push_back(CheckStopping());
  const Expected<void> region = DropValue(RegionFile::Create({}));
  if (region) {
    checks.push_back(CheckAddressSpace(inherited.AddressSpaceLimit()));
  } else {
    checks.push_back({CheckResult::kNo, "memory", region.error().message});
  }
  return checks;
}

}  // namespace leakgate
