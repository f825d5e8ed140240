#include "runner/run/linux/inherited_state.h"

#include <fcntl.h>
#include <unistd.h>

namespace leakgate {
namespace {

void SetDisposition(int signal, void (*handler)(int), struct sigaction& inherited) {
  struct sigaction own {};
  own.sa_handler = handler;
  ::sigaction(signal, &own, &inherited);
}

// To `wanted` where the rights allow it, else to the hard limit.
void RaiseLimit(__rlimit_resource resource, rlim_t wanted, rlimit& inherited) {
  ::getrlimit(resource, &inherited);
  if (inherited.rlim_cur >= wanted) return;
  const rlimit beyond{wanted, wanted > inherited.rlim_max ? wanted : inherited.rlim_max};
  if (::setrlimit(resource, &beyond) == 0) return;
  const rlimit most{inherited.rlim_max, inherited.rlim_max};
  ::setrlimit(resource, &most);
}

// The lowest free descriptor is taken, so each gap is filled in turn.
void FillStandardDescriptors() {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

}  // namespace

InheritedState InheritedState::Take() {
  constexpr rlim_t kEnoughDescriptors = 1024;
  InheritedState state;
  SetDisposition(SIGCHLD, SIG_DFL, state.on_child_change_);
  SetDisposition(SIGPIPE, SIG_IGN, state.on_broken_pipe_);
  SetDisposition(SIGXFSZ, SIG_IGN, state.on_file_limit_);
  RaiseLimit(RLIMIT_FSIZE, RLIM_INFINITY, state.file_size_);
  RaiseLimit(RLIMIT_AS, RLIM_INFINITY, state.address_space_);
  RaiseLimit(RLIMIT_NOFILE, kEnoughDescriptors, state.descriptors_);
  FillStandardDescriptors();
  return state;
}

void InheritedState::Restore() const noexcept {
  ::sigaction(SIGCHLD, &on_child_change_, nullptr);
  ::sigaction(SIGPIPE, &on_broken_pipe_, nullptr);
  ::sigaction(SIGXFSZ, &on_file_limit_, nullptr);
  ::setrlimit(RLIMIT_FSIZE, &file_size_);
  ::setrlimit(RLIMIT_AS, &address_space_);
  ::setrlimit(RLIMIT_NOFILE, &descriptors_);
}

}  // namespace leakgate
