#include "runner/attach/linux/exec_catch.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>

#include "runner/attach/linux/exec_call.h"
#include "runner/attach/linux/refusals.h"
#include "runner/base/linux/proc_place.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kNoQuestion = 0;
constexpr std::size_t kMostScripts = 1024;
// A thread that waited in execve has ended there, because another thread of its process has
// executed a program, or because the process was killed.
constexpr const char* kNothingBegins = "";
constexpr std::chrono::milliseconds kMostSeizing(20);
constexpr std::chrono::milliseconds kAwakePause(1);
constexpr std::chrono::milliseconds kMostAwake(100);
constexpr std::chrono::milliseconds kExecPatience(100);
constexpr std::chrono::milliseconds kInterruptPatience(500);

// If seizing a thread blocks until its question is answered, an alarm answers the question.
int g_alarm_holder = -1;
ExecAnswer g_alarm_answer;
volatile sig_atomic_t g_alarm_answered = 0;

void AllowOnAlarm(int) {
  g_alarm_answered = 1;
  (void)::send(g_alarm_holder, &g_alarm_answer, sizeof(g_alarm_answer), MSG_NOSIGNAL);
}

void SetAlarm(std::chrono::milliseconds after) {
  const itimerval value{{0, 0}, {0, std::chrono::microseconds(after).count()}};
  ::setitimer(ITIMER_REAL, &value, nullptr);
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

// The tracer may be another session's holder, since several sessions may want a program.
std::string WhyNotSeized(int pid, int error) {
  const std::string tracer = StatusField(pid, pid, "TracerPid");
  const int tracer_pid = tracer.empty() ? 0 : std::atoi(tracer.c_str());
  if (tracer_pid == 0 || NameOfThread(tracer_pid, tracer_pid) != kHolderName) {
    return StopError(pid, error).message;
  }
  return fmt::format("another session of leakgate has it, which holds programs, too (PID {})",
                     tracer_pid);
}

bool IsTracedHere(int tid) {
  return StatusField(tid, tid, "TracerPid") == std::to_string(::getpid());
}

bool IsThisProgram(int file) {
  static const std::optional<struct stat> own = StatPlaceOf("/proc/self/exe");
  struct stat opened {};
  return own && ::fstat(file, &opened) == 0 && IdOf(opened) == IdOf(*own);
}

}  // namespace

ExecCatch::ExecCatch(ExecCatchHandlers handlers, const UniqueFd& holder)
    : handlers_(std::move(handlers)), holder_(holder) {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &children, nullptr);
  stopped_ = UniqueFd(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
  struct sigaction alarm {};
  alarm.sa_handler = AllowOnAlarm;
  ::sigaction(SIGALRM, &alarm, nullptr);
}

int ExecCatch::TimeToWaitMs() const {
  constexpr int kSoon = 20;
  constexpr int kForEver = -1;
  if (!postponed_.empty()) return static_cast<int>(kAwakePause.count());
  return seized_.empty() ? kForEver : kSoon;
}

void ExecCatch::Decide(const ExecQuestion& question, UniqueFd file) {
  // A seized thread asks again for its interpreters.
  if (seized_.contains(static_cast<int>(question.tid))) return Allow(question);
  if (DecideCall(question, file, true)) return;
  postponed_.push_back({question, std::move(file), Clock::now()});
}

bool ExecCatch::DecideCall(const ExecQuestion& question, const UniqueFd& file, bool may_wait) {
  const int tid = static_cast<int>(question.tid);
  const ExecName name = ReadExecName(tid, file.get());
  if (name.is_running && may_wait) return false;
  // The name may be unknown, or may have been too long to be read.
  const bool is_other = !name.is_running && !name.is_script && !name.first_argument.empty() &&
                        !handlers_.may_be_wanted(name.path, name.first_argument);
  if (is_other && !decided_scripts_.contains(tid)) {
    Allow(question);
    return true;
  }
  const ExecCall call = ReadExecCall(tid, file.get());
  if (call.is_running && may_wait) return false;
  if (IsOfDecidedScript(tid, name.path, call.named) || is_other) {
    Allow(question);
  } else {
    DecideProgram(question, file, call);
  }
  return true;
}

void ExecCatch::DecideProgram(const ExecQuestion& question, const UniqueFd& file,
                              const ExecCall& call) {
  const int tid = static_cast<int>(question.tid);
  const bool is_known = !call.is_running;
  const bool is_wanted = handlers_.is_wanted(call.program);
  if ((!is_wanted && is_known) || IsThisProgram(file.get())) {
    Allow(question);
    NoteDecided(tid, call);
    if (!is_wanted) ReportWantedScript(tid, call.script, call.program);
    return;
  }
  if (call.script.empty() && HasFileRights(file.get())) {
    Allow(question);
    const int pid = ProcessOf(tid);
    if (!is_wanted) return handlers_.on_unseen();
    return handlers_.on_missed(pid, call.program, FileRightsError(pid).message);
  }
  const std::optional<std::string> problem = Seize(question);
  if (!problem) seized_.emplace(tid, Seized{call.script, Clock::now()});
  if (g_alarm_answered == 0) {
    Allow(question);
  } else {
    Tell(kNoQuestion);  // whether it was seized was not known
  }
  if (!problem) return;
  if (is_known) NoteDecided(tid, call);
  if (*problem == kNothingBegins) return;
  if (!is_wanted) return handlers_.on_unseen();
  handlers_.on_missed(ProcessOf(tid), call.program, *problem);
}

void ExecCatch::ReportWantedScript(int tid, const std::string& path,
                                   const ExecutedProgram& program) const {
  const ExecutedProgram script{path, program.arguments, path};
  if (path.empty() || !handlers_.is_wanted(script)) return;
  const std::string interpreter = program.path.substr(program.path.rfind('/') + 1);
  handlers_.on_missed(
      ProcessOf(tid), script,
      fmt::format("it is a script, which {0} runs; name that, and the script as its argument: "
                  "--image {0}:{1}",
                  interpreter, path.substr(path.rfind('/') + 1)));
}

void ExecCatch::NoteDecided(int tid, const ExecCall& call) {
  if (call.script.empty()) return;
  // An entry stays if no question comes for the interpreter, because its file system is not held.
  if (decided_scripts_.size() == kMostScripts) decided_scripts_.clear();
  decided_scripts_[tid] = {call.program.path, call.named};
}

// The kernel asks about a script's interpreter after it has asked about the script. The arguments
// of the call would make it look like the script again. If that call has failed meanwhile, the
// thread may execute the interpreter by another call: then that call names the interpreter.
bool ExecCatch::IsOfDecidedScript(int tid, const std::string& path, const std::string& named) {
  const auto found = decided_scripts_.find(tid);
  if (found == decided_scripts_.end()) return false;
  const DecidedScript script = std::move(found->second);
  decided_scripts_.erase(found);
  return script.interpreter == path && script.named == named;
}

void ExecCatch::Allow(const ExecQuestion& question) {
  allowed_.push_back(question.number);
  SendAnswers();
}

void ExecCatch::SendAnswers() {
  if (!postponed_.empty()) return;
  for (const std::uint64_t number : allowed_) Tell(number);
  allowed_.clear();
}

void ExecCatch::Tell(std::uint64_t number) const {
  const ExecAnswer answer{.number = number, .seized = static_cast<std::uint32_t>(seized_.size())};
  (void)::send(holder_.get(), &answer, sizeof(answer), MSG_NOSIGNAL);
}

// The thread may continue afterwards, in any case: the reason why it was not seized is found out
// before that.
std::optional<std::string> ExecCatch::Seize(const ExecQuestion& question) const {
  const int tid = static_cast<int>(question.tid);
  g_alarm_holder = holder_.get();
  g_alarm_answer = {.number = question.number,
                    .seized = static_cast<std::uint32_t>(seized_.size() + 1)};
  g_alarm_answered = 0;
  SetAlarm(kMostSeizing);
  const bool is_seized = ::ptrace(PTRACE_SEIZE, tid, nullptr, PTRACE_O_TRACEEXEC) == 0;
  const int error = errno;
  SetAlarm(std::chrono::milliseconds(0));
  std::optional<std::string> problem;
  if (g_alarm_answered == 0) {
    const bool has_ended = !is_seized && (error == ESRCH || HasDied(tid, tid));
    if (!is_seized) problem = has_ended ? kNothingBegins : WhyNotSeized(ProcessOf(tid), error);
  } else if (!is_seized) {
    problem =
        "it ran before it could be stopped: another session held it, too, or a script on a file "
        "system that leakgate is not asked about started it";
  }
  return problem;
}

void ExecCatch::AskAgain() {
  const Clock::time_point now = Clock::now();
  if (postponed_.empty() || now - asked_again_ < kAwakePause) return;
  asked_again_ = now;
  std::erase_if(postponed_, [&](const Postponed& entry) {
    return DecideCall(entry.question, entry.file, now - entry.since < kMostAwake);
  });
  SendAnswers();
}

void ExecCatch::Continue() {
  AskAgain();
  signalfd_siginfo signals[8];
  while (::read(stopped_.get(), signals, sizeof(signals)) > 0) {
  }
  int status = 0;
  for (pid_t tid = 0; (tid = ::waitpid(-1, &status, __WALL | WNOHANG)) > 0;) {
    OnStop(tid, status);
    Tell(kNoQuestion);
  }
  for (auto it = seized_.begin(); it != seized_.end();) {
    it = IsGone(it->first, it->second) ? seized_.erase(it) : std::next(it);
  }
  if (!seized_.empty()) Tell(kNoQuestion);
}

// Interrupts a thread that has not stopped for a long time. If another thread of the process
// executes a program, it takes over the process's number, and the kernel does not report the end of
// the thread that had this number.
bool ExecCatch::IsGone(int tid, Seized& seized) {
  const auto waited = Clock::now() - seized.since;
  if (waited < kExecPatience) return false;
  if (seized.is_interrupted) return waited > kInterruptPatience && !IsTracedHere(tid);
  seized.is_interrupted = true;
  return ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) != 0;
}

void ExecCatch::OnStop(int tid, int status) {
  if (!WIFSTOPPED(status)) {  // it has ended; its parent learns of it now
    seized_.erase(tid);
    return;
  }
  const int event = status >> 16;
  if (event == PTRACE_EVENT_EXEC) {
    unsigned long before =
        0;  // the thread that has executed the program, and now has the process's number
    ::ptrace(PTRACE_GETEVENTMSG, tid, nullptr, &before);
    OnExec(tid, static_cast<int>(before));
  } else if (event == PTRACE_EVENT_STOP) {
    OnLate(tid);
  } else {
    ::ptrace(PTRACE_CONT, tid, nullptr, WSTOPSIG(status));
  }
}

void ExecCatch::OnExec(int pid, int tid) {
  const ExecutedProgram program = ExecutedProgramOf(pid);
  const auto seized = seized_.find(tid);
  if (handlers_.is_wanted(program)) {
    handlers_.on_exec(pid, program);
  } else if (seized != seized_.end()) {
    ReportWantedScript(pid, seized->second.script, program);
  }
  seized_.erase(tid);
  seized_.erase(pid);  // the first thread, whose number the executing thread has now
  DetachThread(pid);
}

void ExecCatch::OnLate(int tid) {
  DetachThread(tid);
  seized_.erase(tid);
}

void ExecCatch::DetachThread(int tid) { ::ptrace(PTRACE_DETACH, tid, nullptr, nullptr); }

}  // namespace leakgate
