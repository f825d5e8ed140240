#include "runner/attach/linux/exec_hold.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/fanotify.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <sstream>
#include <string_view>

#include "runner/attach/linux/exec_call.h"
#include "runner/attach/linux/refusals.h"
#include "runner/process/image_inspection.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kAsked = FAN_OPEN_EXEC_PERM;
// The kernel refuses the exec of whom it cannot open a descriptor for, so few are opened at once.
constexpr std::size_t kMostAtOnce = 32;
constexpr std::size_t kMostScripts = 1024;
constexpr std::chrono::milliseconds kMostSeizing(20);
constexpr std::chrono::milliseconds kExecPatience(100);
// A namespace whose mounts are watched lives on, so it is let go soon.
constexpr std::chrono::seconds kNamespacePatience(2);

// An alarm answers for a thread whose seizing waits until it is answered.
volatile sig_atomic_t g_alarm_listener = -1;
volatile sig_atomic_t g_alarm_file = -1;
volatile sig_atomic_t g_alarm_answered = 0;

void AnswerByAlarm(int) {
  const fanotify_response response{g_alarm_file, FAN_ALLOW};
  g_alarm_answered = 1;
  if (::write(g_alarm_listener, &response, sizeof(response)) < 0) return;
}

void SetAlarm(std::chrono::milliseconds after) {
  const itimerval value{{0, 0}, {0, std::chrono::microseconds(after).count()}};
  ::setitimer(ITIMER_REAL, &value, nullptr);
}

// Since Linux 6.8 the kernel opens the file before it locks the process against ptrace.
Expected<void> RequireKernel() {
  utsname name{};
  ::uname(&name);
  int major = 0;
  int minor = 0;
  (void)std::sscanf(name.release, "%d.%d", &major, &minor);  // NOLINT(cert-err34-c)
  if (std::pair(major, minor) >= std::pair(6, 8)) return {};
  return InconclusiveError(
      fmt::format("Linux {} does not let a process be traced that is held in execve; Linux 6.8 "
                  "and later do",
                  name.release));
}

// File systems that are served by a process or another machine are not watched: the holder would
// have to wait for them, and they may refuse what it opens.
bool IsOwnKind(std::string_view kind) {
  constexpr std::string_view kKinds[] = {"ext2",     "ext3",    "ext4", "xfs",   "btrfs",
                                         "overlay",  "tmpfs",   "f2fs", "zfs",   "bcachefs",
                                         "squashfs", "erofs",   "vfat", "exfat", "jfs",
                                         "reiserfs", "iso9660", "udf",  "ramfs"};
  return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

struct Mount {
  std::string device;  // "254:0"
  std::string place;
  std::string kind;  // "ext4"
};

// The kernel writes a space as \\040.
std::string Unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>(((text[i + 1] - '0') << 6) | ((text[i + 2] - '0') << 3) |
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// Lines such as "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw".
std::vector<Mount> ReadMounts(int pid) {
  std::istringstream file(ReadProcFile(fmt::format("/proc/{}/mountinfo", pid)).value_or(""));
  std::vector<Mount> mounts;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string number;
    std::string parent;
    std::string root;
    Mount mount;
    words >> number >> parent >> mount.device >> root >> mount.place;
    mount.place = Unescaped(mount.place);
    for (std::string word; words >> word && word != "-";) {
    }
    words >> mount.kind;
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

bool HasFileRights(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return false;
  if ((status.st_mode & S_ISUID) != 0) return true;
  if ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0) return true;
  return ::fgetxattr(file, "security.capability", nullptr, 0) > 0;
}

int ProcessOf(int tid) {
  const std::string process = StatusField(tid, tid, "Tgid");
  return process.empty() ? tid : std::atoi(process.c_str());
}

// The tracer may be another holder, since several sessions may want a program.
std::string WhyNotSeized(int pid, int error) {
  const std::string tracer = StatusField(pid, pid, "TracerPid");
  const int tracer_pid = tracer.empty() ? 0 : std::atoi(tracer.c_str());
  if (tracer_pid == 0 || NameOfThread(tracer_pid, tracer_pid) != ExecHold::kProcessName) {
    return StopError(pid, error).message;
  }
  return fmt::format("another session of leakgate has it, which holds programs, too (PID {})",
                     tracer_pid);
}

bool IsThisProgram(int file) {
  static const struct stat own = [] {
    struct stat status {};
    (void)::stat("/proc/self/exe", &status);
    return status;
  }();
  struct stat opened {};
  return ::fstat(file, &opened) == 0 && opened.st_dev == own.st_dev && opened.st_ino == own.st_ino;
}

}  // namespace

Expected<ExecHold> ExecHold::Open(ExecHoldHandlers handlers) {
  if (const Expected<void> fits = RequireKernel(); !fits) return Unexpected(fits.error());
  ExecHold hold;
  hold.handlers_ = std::move(handlers);
  hold.asked_ = UniqueFd(::fanotify_init(
      FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE | FAN_REPORT_TID,
      O_RDONLY | O_CLOEXEC | O_LARGEFILE));
  if (!hold.asked_) {
    return InconclusiveError(fmt::format(
        "the kernel does not let leakgate hold programs that begin (fanotify): {}; in a container "
        "it takes --cap-add=SYS_ADMIN",
        ErrnoText()));
  }
  if (::fanotify_mark(hold.asked_.get(), FAN_MARK_ADD, kAsked, AT_FDCWD, "/") != 0 &&
      errno == EINVAL) {
    return InconclusiveError(
        "the kernel was built without CONFIG_FANOTIFY_ACCESS_PERMISSIONS, so no program can be "
        "held when it begins");
  }
  ::fanotify_mark(hold.asked_.get(), FAN_MARK_FLUSH, 0, AT_FDCWD, "/");

  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &children, nullptr);
  hold.stopped_ = UniqueFd(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
  struct stat own {};
  if (::stat("/proc/self/ns/mnt", &own) == 0) hold.own_namespace_ = own.st_ino;
  hold.mounts_ = OpenProcFile(::getpid(), "mountinfo");
  struct sigaction alarm {};
  alarm.sa_handler = AnswerByAlarm;
  ::sigaction(SIGALRM, &alarm, nullptr);

  sigevent end{};
  end.sigev_notify = SIGEV_SIGNAL;
  end.sigev_signo = SIGKILL;
  timer_t timer{};
  if (::timer_create(CLOCK_MONOTONIC, &end, &timer) != 0) {
    return InconclusiveError(fmt::format("cannot make a timer: {}", ErrnoText()));
  }
  hold.timer_ = timer;
  hold.KeepAlive();
  constexpr int kFirst = -20;
  ::setpriority(PRIO_PROCESS, 0, kFirst);  // the whole machine waits for it
  return hold;
}

void ExecHold::KeepAlive() const {
  const itimerspec value{{0, 0}, {kMostSilence.count(), 0}};
  ::timer_settime(timer_, 0, &value, nullptr);
}

void ExecHold::WatchFileSystems() {
  WatchFileSystemsOf(::getpid());
  std::erase_if(namespaces_, [](const auto& entry) {
    return Clock::now() - entry.second.used > kNamespacePatience;
  });
}

// A number of a device may be another file system's by now, so none is remembered as watched.
void ExecHold::WatchFileSystemsOf(int pid) const {
  std::set<std::string> watched;
  for (const Mount& mount : ReadMounts(pid)) {
    if (!IsOwnKind(mount.kind) || watched.contains(mount.device)) continue;
    const std::string place = fmt::format("/proc/{}/root{}", pid, mount.place);
    const bool is_watched = ::fanotify_mark(asked_.get(), FAN_MARK_ADD | FAN_MARK_FILESYSTEM,
                                            kAsked, AT_FDCWD, place.c_str()) == 0;
    if (is_watched) watched.insert(mount.device);
  }
}

// What is mounted in a namespace of its own can be seen only by its processes.
void ExecHold::LookIntoNamespace(int tid) {
  struct stat status {};
  if (::stat(fmt::format("/proc/{}/ns/mnt", tid).c_str(), &status) != 0) return;
  if (status.st_ino == own_namespace_) return;
  MountNamespace& entry = namespaces_[status.st_ino];
  entry.used = Clock::now();
  pollfd changed{entry.mounts.get(), POLLPRI, 0};
  if (entry.mounts && ::poll(&changed, 1, 0) == 0) return;
  if (!entry.mounts) entry.mounts = OpenProcFile(tid, "mountinfo");
  WatchFileSystemsOf(tid);
}

void ExecHold::Answer() {
  alignas(fanotify_event_metadata) char events[kMostAtOnce * sizeof(fanotify_event_metadata)];
  for (;;) {
    const ssize_t bytes = ::read(asked_.get(), events, sizeof(events));
    if (bytes <= 0) return;
    std::size_t left = static_cast<std::size_t>(bytes);
    for (auto* event = reinterpret_cast<fanotify_event_metadata*>(events);
         FAN_EVENT_OK(event, left); event = FAN_EVENT_NEXT(event, left)) {
      if (event->fd < 0) continue;  // the kernel's own queue
      const UniqueFd file(event->fd);
      if ((event->mask & kAsked) != 0) Decide(event->pid, file.get());
    }
    KeepAlive();
  }
}

// A thread that is seized asks again for its interpreters. One with the number 0 is in a PID
// namespace that is not visible here.
void ExecHold::Decide(int tid, int file) {
  if (tid == 0 || seized_.contains(tid)) return Allow(file);
  LookIntoNamespace(tid);
  const ExecName name = ReadExecName(tid, file);
  if (IsOfDecidedScript(tid, file, name.path)) return Allow(file);
  if (IsDynamicLinker(name.path)) {
    IgnoreFile(file);
    return Allow(file);
  }
  // Its name may have been too long to be read, or is not to be had.
  const bool is_other = !name.is_script && !name.first_argument.empty() &&
                        !handlers_.may_be_wanted(name.path, name.first_argument);
  if (is_other) return Allow(file);
  ExecCall call = ReadExecCall(tid, file);
  const bool is_wanted = handlers_.is_wanted(call.program);
  if (!is_wanted || IsThisProgram(file)) {
    Allow(file);
    NoteDecided(tid, call);
    const ExecutedProgram script{call.script, call.program.arguments, call.script};
    if (is_wanted || call.script.empty() || !handlers_.is_wanted(script)) return;
    const std::string interpreter = call.program.path.substr(call.program.path.rfind('/') + 1);
    return handlers_.on_missed(
        ProcessOf(tid), script,
        fmt::format("it is a script, which {0} runs; name that, and the script as its argument: "
                    "--image {0}:{1}",
                    interpreter, call.script.substr(call.script.rfind('/') + 1)));
  }
  if (call.script.empty() && HasFileRights(file)) {
    Allow(file);
    const int pid = ProcessOf(tid);
    return handlers_.on_missed(pid, call.program, FileRightsError(pid).message);
  }
  const std::optional<std::string> problem = Seize(tid, file);
  if (problem) {
    NoteDecided(tid, call);
    return handlers_.on_missed(ProcessOf(tid), call.program, *problem);
  }
  seized_.emplace(tid, Seized{std::move(call.program), Clock::now()});
}

void ExecHold::NoteDecided(int tid, const ExecCall& call) {
  if (call.script.empty()) return;
  // Some interpreters are where nothing is asked.
  if (decided_scripts_.size() == kMostScripts) decided_scripts_.clear();
  decided_scripts_[tid] = {call.program.path, call.named};
}

// The kernel asks for a script's interpreter behind the script itself. By the arguments of the call
// it would seem to be the script again. If that call has failed meanwhile, another one may execute
// the interpreter: it names that.
bool ExecHold::IsOfDecidedScript(int tid, int file, const std::string& path) {
  const auto found = decided_scripts_.find(tid);
  if (found == decided_scripts_.end()) return false;
  const DecidedScript script = std::move(found->second);
  decided_scripts_.erase(found);
  return script.interpreter == path && script.named == ReadExecCall(tid, file).named;
}

void ExecHold::Allow(int file) const {
  const fanotify_response response{file, FAN_ALLOW};
  if (::write(asked_.get(), &response, sizeof(response)) < 0) return;  // it was killed meanwhile
}

// Each program asks for its dynamic linker a second time, which nobody wants, by whatever
// arguments: they are the program's, for which it has been decided already.
void ExecHold::IgnoreFile(int file) const {
  ::fanotify_mark(asked_.get(), FAN_MARK_ADD | FAN_MARK_IGNORED_MASK | FAN_MARK_IGNORED_SURV_MODIFY,
                  kAsked, file, nullptr);
}

// Allows the thread to go on in any case; before that it is found out why it was not seized.
std::optional<std::string> ExecHold::Seize(int tid, int file) const {
  g_alarm_listener = asked_.get();
  g_alarm_file = file;
  g_alarm_answered = 0;
  SetAlarm(kMostSeizing);
  const bool is_seized = ::ptrace(PTRACE_SEIZE, tid, nullptr, PTRACE_O_TRACEEXEC) == 0;
  const int error = errno;
  SetAlarm(std::chrono::milliseconds(0));
  std::optional<std::string> problem;
  if (g_alarm_answered == 0) {
    if (!is_seized) problem = WhyNotSeized(ProcessOf(tid), error);
    Allow(file);
  } else if (!is_seized) {
    problem =
        "it ran before it could be stopped: another session held it, too, or a script on a file "
        "system that leakgate is not asked about started it";
  }
  return problem;
}

void ExecHold::Continue() {
  signalfd_siginfo signals[8];
  while (::read(stopped_.get(), signals, sizeof(signals)) > 0) {
  }
  int status = 0;
  for (pid_t tid = 0; (tid = ::waitpid(-1, &status, __WALL | WNOHANG)) > 0;) {
    OnStop(tid, status);
    KeepAlive();
  }
  const Clock::time_point now = Clock::now();
  for (auto& [tid, seized] : seized_) {
    if (seized.is_interrupted || now - seized.since < kExecPatience) continue;
    ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
    seized.is_interrupted = true;
  }
}

void ExecHold::OnStop(int tid, int status) {
  if (!WIFSTOPPED(status)) {  // it has ended; its parent is told now
    seized_.erase(tid);
    return;
  }
  const int event = status >> 16;
  if (event == PTRACE_EVENT_EXEC) {
    unsigned long before =
        0;  // the thread that has executed it, which has the process's number now
    ::ptrace(PTRACE_GETEVENTMSG, tid, nullptr, &before);
    OnExec(tid, static_cast<int>(before));
  } else if (event == PTRACE_EVENT_STOP) {
    OnLate(tid);
  } else {
    ::ptrace(PTRACE_CONT, tid, nullptr, WSTOPSIG(status));
  }
}

void ExecHold::OnExec(int pid, int tid) {
  const ExecutedProgram program = ExecutedProgramOf(pid);
  if (handlers_.is_wanted(program)) handlers_.on_exec(pid, program);
  seized_.erase(tid);
  LetGo(pid);
}

void ExecHold::OnLate(int tid) {
  LetGo(tid);
  seized_.erase(tid);
}

void ExecHold::LetGo(int tid) { ::ptrace(PTRACE_DETACH, tid, nullptr, nullptr); }

}  // namespace leakgate
