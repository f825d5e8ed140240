#include "runner/attach/linux/refusals.h"

#include <elf.h>
#include <fmt/format.h>
#include <linux/kcmp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>

#include "runner/arch/processor.h"
#include "runner/base/descriptors.h"
#include "runner/base/linux/proc_place.h"
#include "runner/process/image_inspection.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

std::string Field(int pid, std::string_view field) { return StatusField(pid, pid, field); }

int Number(const std::string& text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Expected<void> RequireAlive(int pid) {
  const std::string state = Field(pid, "State");
  if (pid <= 0 || state.empty()) {
    return UsageError(fmt::format("PID {}: there is no such process", pid));
  }
  if (HasDied(pid, pid) && ListThreads(pid).size() < 2) return EndedError(pid);
  if (pid == ::getpid()) return UsageError(fmt::format("PID {} is leakgate itself", pid));
  if (Number(Field(pid, "Tgid")) != pid) {
    return UsageError(
        fmt::format("PID {} is a thread of PID {}; name that", pid, Field(pid, "Tgid")));
  }
  return {};
}

Expected<void> RequireFreeOfTracers(int pid) {
  for (const int tid : ListThreads(pid)) {
    const std::string tracer = StatusField(pid, tid, "TracerPid");
    if (!tracer.empty() && tracer != "0") return Unexpected(StopError(pid, EPERM));
  }
  return {};
}

// The filters that a process was started with serve programs of any kind. Those that it has given
// itself allow only what it does itself.
Expected<void> RequireNoConfinement(int pid) {
  const std::string mode = Field(pid, "Seccomp");
  const int filters = Number(Field(pid, "Seccomp_filters"));
  const int parents = Number(Field(Number(Field(pid, "PPid")), "Seccomp_filters"));
  const int own = Number(Field(::getpid(), "Seccomp_filters"));
  if (mode == "1" || filters > std::max(parents, own)) {
    return InconclusiveError(fmt::format(
        "PID {} confines itself to a few system calls (seccomp), and the agent's might end it; "
        "start it with 'leakgate run'",
        pid));
  }
  const ShadowStack shadow_stack = KnownShadowStack();
  const bool is_told = !shadow_stack.status_field.empty();
  if (is_told &&
      Field(pid, shadow_stack.status_field).find(shadow_stack.enabled_word) != std::string::npos) {
    return InconclusiveError(fmt::format(
        "PID {} runs with a shadow stack, on which no call can be made from outside; start it "
        "with GLIBC_TUNABLES={}, or with 'leakgate run'",
        pid, shadow_stack.tunable_off));
  }
  return {};
}

// A vfork child shares its parent's memory, and so would its agent.
Expected<void> RequireOwnMemory(int pid) {
  const int parent = Number(Field(pid, "PPid"));
  if (parent > 0 && ::syscall(SYS_kcmp, parent, pid, KCMP_VM, 0, 0) == 0) {
    return InconclusiveError(fmt::format(
        "PID {} has been started by vfork and runs in the memory of PID {}; try again when it has "
        "executed its program",
        pid, parent));
  }
  return {};
}

Expected<void> RequireTraceableImage(int pid) {
  const std::string link = fmt::format("/proc/{}/exe", pid);
  if (ReadLinkOf(link).empty()) {
    if (errno == ENOENT) {
      constexpr int kThreadDaemon = 2;  // "kthreadd", which starts all of the kernel's own
      const bool is_kernels = pid == kThreadDaemon || Number(Field(pid, "PPid")) == kThreadDaemon;
      if (!is_kernels) return EndedError(pid);
      return InconclusiveError(fmt::format("PID {} runs no program: it is the kernel's own", pid));
    }
    return Unexpected(StopError(pid, EPERM));
  }
  LEAKGATE_TRY_ASSIGN(const ImageInspection inspection, InspectImage(link));
  if (!inspection.refusal_of_running) return {};
  return InconclusiveError(
      fmt::format("PID {} cannot be traced: {}", pid, *inspection.refusal_of_running));
}

// Asks what the kernel told the process (AT_SECURE): its file, and who may start it, may have
// changed since.
Expected<void> RequireNoFileRights(int pid) {
  if (AuxiliaryValue(ReadAuxiliary(pid), AT_SECURE).value_or(0) == 0) return {};
  return Unexpected(FileRightsError(pid));
}

Expected<void> RequireNoSanitizer(int pid) {
  constexpr std::string_view kSanitizers[] = {"libasan.so", "libtsan.so", "libmsan.so",
                                              "libhwasan.so", "liblsan.so"};
  LEAKGATE_TRY_ASSIGN(const std::vector<MappedRange> maps, ReadMaps(pid));
  for (const MappedRange& range : maps) {
    const std::string_view name = std::string_view(range.name).substr(range.name.rfind('/') + 1);
    const bool is_sanitizer =
        std::any_of(std::begin(kSanitizers), std::end(kSanitizers),
                    [name](std::string_view sanitizer) { return name.starts_with(sanitizer); });
    if (!is_sanitizer) continue;
    return InconclusiveError(
        fmt::format("PID {} has loaded {}, which replaces malloc itself; attach to a process "
                    "without sanitizers",
                    pid, name));
  }
  return {};
}

}  // namespace

Error StopError(int pid, int error) {
  const std::string tracer = StatusField(pid, pid, "TracerPid");
  if (!tracer.empty() && tracer != "0") {
    return {
        fmt::format("a debugger (PID {}) traces PID {} already; end it, or if it is the launcher, "
                    "have it detach (PTRACE_DETACH with SIGSTOP), then try again",
                    tracer, pid)};
  }
  if (error == EPERM && YamaScope() > 0) {
    return {fmt::format(
        "the kernel does not let PID {} be traced, for /proc/sys/kernel/yama/ptrace_scope is {}; "
        "run leakgate as root, or set it to 0 (sysctl kernel.yama.ptrace_scope=0)",
        pid, YamaScope())};
  }
  if (error == EPERM || error == ENOSYS) {
    return {fmt::format(
        "the kernel does not let PID {} be traced: {}; run leakgate as the process's user or as "
        "root, and in a container with --cap-add=SYS_PTRACE",
        pid, ErrnoText(error))};
  }
  return {fmt::format("cannot stop a thread of PID {}: {}", pid, ErrnoText(error))};
}

Error FileRightsError(int pid) {
  return Error{
      fmt::format("PID {} runs with its file's rights (set-uid, set-gid or capabilities), and such "
                  "processes are never traced; start a copy of the file without them",
                  pid)};
}

Expected<void> RequireAttachable(int pid) {
  for (const auto require :
       {RequireAlive, RequireFreeOfTracers, RequireTraceableImage, RequireNoFileRights,
        RequireNoSanitizer, RequireNoConfinement, RequireOwnMemory}) {
    const Expected<void> met = require(pid);
    if (!met) return met;
  }
  return {};
}

Expected<void> RequireBeginnable(int pid) {
  for (const auto require : {RequireTraceableImage, RequireNoFileRights, RequireNoConfinement}) {
    const Expected<void> met = require(pid);
    if (!met) return met;
  }
  return {};
}

Expected<void> RequireOurNetwork(int pid) {
  const auto ours = StatPlaceOf("/proc/self/ns/net");
  const auto theirs = StatPlaceOf(fmt::format("/proc/{}/ns/net", pid));
  if (!ours || !theirs) return {};
  if (IdOf(*ours) == IdOf(*theirs)) return {};
  return InconclusiveError(fmt::format(
      "PID {} is in another network namespace (a container's, or a service's with "
      "PrivateNetwork=), where its agent does not find the session; start the session in there",
      pid));
}

Expected<void> RequireVisible(int pid, const std::filesystem::path& agent) {
  const auto ours = StatPlaceOf(agent);
  const auto theirs = StatPlaceOf(fmt::format("/proc/{}/root{}", pid, agent.string()));
  if (!ours) {
    return InconclusiveError(
        fmt::format("{}: the agent is missing, so nothing can be traced; "
                    "reinstall leakgate, or build the target leakgate_agent",
                    agent.string()));
  }
  if (!theirs || theirs->st_size != ours->st_size) {
    return InconclusiveError(fmt::format(
        "{}: PID {} cannot see that file, for it has another root directory (a container?); put "
        "the agent there under the same path",
        agent.string(), pid));
  }
  return {};
}

}  // namespace leakgate
