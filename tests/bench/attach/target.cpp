// A program with 18 modules that waits: what tests/bench/attach/attach.cpp attaches to.
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

int main() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::write(STDOUT_FILENO, "r", 1) != 1) return 1;
  for (;;) ::pause();
}
