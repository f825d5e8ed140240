// The environment of a program that this process executes in its own place. A process that
// was enabled while it ran may have been started without the agent; the program that it
// executes under the same PID is to be traced all the same, so it is given the agent and the
// runner's name, as a program that leakgate launches is.
//
// Not in children of fork and vfork: they are other processes, and nobody has named them.
#pragma once

#include "plugin/agent/base/visibility.h"

namespace leakgate::agent {

// From now on. `control` is the runner's socket.
void FollowExecs(const char* control);
void StopFollowingExecs();

// For the duration of a call that executes.
class ExecEnvironment {
 public:
  explicit ExecEnvironment(char* const* given);
  // The call has failed.
  ~ExecEnvironment();
  ExecEnvironment(const ExecEnvironment&) = delete;
  ExecEnvironment& operator=(const ExecEnvironment&) = delete;

  // What was given, where nothing is to be followed or there is no memory.
  char* const* get() const { return variables_; }

 private:
  char* const* variables_;
  void* memory_ = nullptr;  // of its own: the caller's stack may be small
  unsigned long bytes_ = 0;
};

}  // namespace leakgate::agent
