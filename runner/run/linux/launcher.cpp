#include "runner/run/launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/process/v2/environment.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/process/v2/stdio.hpp>
#include <cstdlib>

#include "runner/base/descriptors.h"
#include "runner/process/image_inspection.h"
#include "runner/process/linux/ptrace_stops.h"
#include "runner/run/linux/signal_set.h"

namespace leakgate {
namespace {

namespace process = boost::process::v2;

boost::system::error_code LastError() { return {errno, boost::system::system_category()}; }

// Boost.Process closes all but the standard descriptors, but the program must have what the runner
// was given: a make's job server, a shell's redirections.
std::vector<int> InheritedDescriptors() {
  std::vector<int> inherited;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const int fd = std::atoi(entry.path().filename().c_str());
    const int flags = ::fcntl(fd, F_GETFD);
    if (fd > STDERR_FILENO && flags >= 0 && (flags & FD_CLOEXEC) == 0) inherited.push_back(fd);
  }
  return inherited;
}

// Sets the child up, before and after the fork. In the child only async-signal-safe calls are made.
//
// The program dies with its parent, even if that is killed, so nothing is left behind. It begins
// with what the runner was given, and with SIGTRAP unblocked: if it were blocked, the program would
// run on untraced.
struct StopAtExec {
  const LaunchRequest& request;
  pid_t parent = ::getpid();

  template <typename Launcher>
  boost::system::error_code on_setup(Launcher& launcher, const boost::filesystem::path&,
                                     const char* const*&) const {
    for (const int fd : InheritedDescriptors()) launcher.fd_whitelist.push_back(fd);
    return {};
  }

  template <typename Launcher>
  boost::system::error_code on_exec_setup(Launcher&, const boost::filesystem::path&,
                                          const char* const*& arguments) const {
    const_cast<const char**>(arguments)[0] = request.name.c_str();
    if (request.working_directory != nullptr && !request.working_directory->Enter()) {
      return {ENOTSUP, boost::system::system_category()};
    }
    if (request.group == ProcessGroup::kOwn && ::setpgid(0, 0) != 0) return LastError();
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return LastError();
    if (::getppid() != parent) ::_exit(127);
    request.inherited.Restore();
    sigset_t mask = SetOf(request.signal_mask);
    ::sigdelset(&mask, SIGTRAP);
    if (::sigprocmask(SIG_SETMASK, &mask, nullptr) != 0) return LastError();
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return LastError();
    return {};
  }

  // Ends the child without the runner's exit handlers. It takes a pack because Boost 1.81 looks for
  // one signature and calls another.
  template <typename... Ignored>
  void on_exec_error(Ignored&&...) const {
    ::_exit(127);
  }
};

Expected<void> WaitForExecStop(int pid) {
  int status = 0;
  while (::waitpid(pid, &status, __WALL) < 0) {
    if (errno != EINTR)
      return InconclusiveError(fmt::format("cannot wait for PID {}: {}", pid, ErrnoText()));
  }
  if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP) return {};
  return InconclusiveError("the program did not stop at exec");
}

bool IsForWantOfRoom(int error) {
  return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
}

Error LaunchError(const std::filesystem::path& program, const boost::system::error_code& error) {
  if (IsForWantOfRoom(error.value())) {
    return {
        fmt::format("{}: cannot be launched: {}; raise the limits on processes, memory and open "
                    "files (ulimit -u, -v, -n)",
                    program.string(), error.message()),
        ExitCode::kInconclusive};
  }
  if (error.value() == EPERM || error.value() == ENOSYS) {
    return {fmt::format("{}: cannot be launched suspended: {}; allow ptrace (in a container: "
                        "--cap-add=SYS_PTRACE)",
                        program.string(), error.message()),
            ExitCode::kInconclusive};
  }
  if (error.value() == ENOEXEC) {
    const Expected<ImageInspection> image = InspectImage(program);
    if (image && image->is_of_other_processor && image->refusal) {
      return {fmt::format("{}: cannot be traced: {}", program.string(), *image->refusal),
              ExitCode::kInconclusive};
    }
    return {fmt::format("{}: neither a program for this machine nor a script that names its "
                        "interpreter; begin a script with #!/bin/sh or the like",
                        program.string()),
            ExitCode::kUsage};
  }
  return {fmt::format("{}: cannot be executed: {}", program.string(), error.message()),
          ExitCode::kUsage};
}

// Boost.Process opens a PID descriptor for each process and does not check whether that worked.
Expected<void> RequirePidDescriptors() {
  const UniqueFd own(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (own) return {};
  return InconclusiveError(
      fmt::format("no process can be watched: pidfd_open: {}; leakgate needs Linux 5.4 or later, "
                  "and a container that allows the call",
                  ErrnoText()));
}

void SetDisposition(int signal, void (*handler)(int), struct sigaction& inherited) {
  struct sigaction own {};
  own.sa_handler = handler;
  ::sigaction(signal, &own, &inherited);
}

// Raises the limit to `wanted` if the rights allow it, else to the hard limit.
void RaiseLimit(__rlimit_resource resource, rlim_t wanted, rlimit& inherited) {
  ::getrlimit(resource, &inherited);
  if (inherited.rlim_cur >= wanted) return;
  const rlimit beyond{wanted, wanted > inherited.rlim_max ? wanted : inherited.rlim_max};
  if (::setrlimit(resource, &beyond) == 0) return;
  const rlimit most{inherited.rlim_max, inherited.rlim_max};
  ::setrlimit(resource, &most);
}

// Opens files until no standard descriptor is free: open takes the lowest free one.
void FillStandardDescriptors() {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

}  // namespace

Expected<std::unique_ptr<SuspendedProcess>> SuspendedProcess::Launch(const LaunchRequest& request) {
  LEAKGATE_TRY(RequirePidDescriptors());
  boost::asio::io_context context;
  boost::system::error_code error;
  process::default_process_launcher launcher;
  // The overload for a context throws instead of returning the error.
  const auto start = [&](auto&&... streams) {
    return launcher(context.get_executor(), error,
                    boost::filesystem::path(request.program.string()), request.arguments,
                    process::process_environment(request.environment), StopAtExec{request},
                    std::forward<decltype(streams)>(streams)...);
  };
  auto child = request.streams == Streams::kInherited
                   ? start()
                   : start(process::process_stdio{nullptr, nullptr, nullptr});
  if (error) {
    if (launcher.pid > 0) ::waitpid(launcher.pid, nullptr, __WALL);
    if (request.working_directory == nullptr) {
      return Unexpected(LaunchError(request.program, error));
    }
    LaunchRequest without_copy = request;
    without_copy.working_directory = nullptr;
    if (error.value() == ENOTSUP) ScratchCopy::NoteRefusal();
    return Launch(without_copy);
  }

  std::unique_ptr<SuspendedProcess> launched(new SuspendedProcess(child.id()));
  child.detach();
  LEAKGATE_TRY(WaitForExecStop(launched->pid_));
  return launched;
}

SuspendedProcess::~SuspendedProcess() {
  if (is_resumed_) return;
  // Where a filter refuses kill, ptrace can end it, for it is stopped.
  if (::kill(pid_, SIGKILL) != 0 && ::ptrace(PTRACE_KILL, pid_, nullptr, nullptr) != 0) return;
  ::waitpid(pid_, nullptr, __WALL);
}

std::filesystem::path SuspendedProcess::image() const {
  std::error_code error;
  return std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid_), error);
}

Expected<void> SuspendedProcess::Resume() {
  if (::ptrace(PTRACE_DETACH, pid_, nullptr, nullptr) != 0) {
    return InconclusiveError(fmt::format("cannot resume PID {}: {}", pid_, ErrnoText()));
  }
  is_resumed_ = true;
  return {};
}

std::optional<ProgramExit> SuspendedProcess::Poll() {
  // While the search for lost blocks has stopped the threads, their stops must be left to it.
  const std::unique_lock lock(WaitLock(), std::try_to_lock);
  if (!lock) return std::nullopt;
  int raw = 0;
  while (::waitpid(pid_, &raw, WNOHANG | WUNTRACED | WCONTINUED) == pid_) {
    if (WIFEXITED(raw)) return ProgramExit{.exit_code = WEXITSTATUS(raw), .signal = {}};
    if (WIFSIGNALED(raw)) return ProgramExit{.exit_code = {}, .signal = WTERMSIG(raw)};
    is_stopped_ = WIFSTOPPED(raw);
  }
  return std::nullopt;
}

struct InheritedState::Saved {
  struct sigaction on_child_change {};
  struct sigaction on_broken_pipe {};
  struct sigaction on_file_limit {};
  rlimit file_size{};
  rlimit address_space{};
  rlimit descriptors{};
};

InheritedState InheritedState::Take() {
  constexpr rlim_t kEnoughDescriptors = 1024;
  Saved saved;
  SetDisposition(SIGCHLD, SIG_DFL, saved.on_child_change);
  SetDisposition(SIGPIPE, SIG_IGN, saved.on_broken_pipe);
  SetDisposition(SIGXFSZ, SIG_IGN, saved.on_file_limit);
  RaiseLimit(RLIMIT_FSIZE, RLIM_INFINITY, saved.file_size);
  RaiseLimit(RLIMIT_AS, RLIM_INFINITY, saved.address_space);
  RaiseLimit(RLIMIT_NOFILE, kEnoughDescriptors, saved.descriptors);
  FillStandardDescriptors();
  InheritedState state;
  state.saved_ = std::make_shared<const Saved>(saved);
  return state;
}

std::optional<std::uint64_t> InheritedState::AddressSpaceLimit() const {
  if (saved_->address_space.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return saved_->address_space.rlim_cur;
}

void InheritedState::Restore() const noexcept {
  ::sigaction(SIGCHLD, &saved_->on_child_change, nullptr);
  ::sigaction(SIGPIPE, &saved_->on_broken_pipe, nullptr);
  ::sigaction(SIGXFSZ, &saved_->on_file_limit, nullptr);
  ::setrlimit(RLIMIT_FSIZE, &saved_->file_size);
  ::setrlimit(RLIMIT_AS, &saved_->address_space);
  ::setrlimit(RLIMIT_NOFILE, &saved_->descriptors);
}

}  // namespace leakgate
