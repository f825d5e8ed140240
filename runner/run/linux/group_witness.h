// Tells a signal that was sent to the runner's whole process group, which the
// program has received by itself, from one sent to the runner alone, which has
// to be passed on. A signal does not say which it was; so a second process sits
// in the group, touches nothing and tells what it receives.
//
//   kill(-group, SIGINT)    runner, witness and program have it    not passed on
//   kill(runner, SIGINT)    the runner alone has it                passed on
//
// It lives no longer than the runner, and not in the program's process tree.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <ctime>
#include <vector>

#include "runner/base/descriptors.h"

namespace leakgate {

class GroupWitness {
 public:
  // REQUIRES: `signals` are blocked, and this process has no other thread.
  // Without the means for another process it sees nothing.
  explicit GroupWitness(const sigset_t& signals);
  ~GroupWitness();
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;

  // Whether the group was sent `signal` too. Waits a moment to be told.
  [[nodiscard]] bool HasSeen(const siginfo_t& signal);

  // What it tells of one signal.
  struct Sighting {
    int signal;
    pid_t sender;
    timespec seen;  // CLOCK_MONOTONIC
  };

 private:
  bool WaitForSighting(std::chrono::milliseconds patience);

  pid_t pid_ = -1;
  UniqueFd sightings_fd_;
  std::vector<Sighting> sightings_;
};

}  // namespace leakgate
