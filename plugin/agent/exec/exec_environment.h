// The environment of a program that this process executes in its own place.
//
// A process whose tracing was enabled while it ran may have been started without the agent. The
// program that it executes under the same PID must be traced nevertheless. So that program is given
// the agent and the name of the runner's socket, like a program that leakgate launches.
//
// Children of fork and vfork are left alone, because the user has not named these processes.
#pragma once

#include "plugin/agent/base/visibility.h"

namespace leakgate::agent {

// Gives the agent to what is executed from now on. `control` names the runner's socket.
void FollowExecs(const char* control);
void StopFollowingExecs();

// The environment for one exec call. It lives as long as the call.
class ExecEnvironment {
 public:
  explicit ExecEnvironment(char* const* given);
  // Reached only if the call has failed.
  ~ExecEnvironment();
  ExecEnvironment(const ExecEnvironment&) = delete;
  ExecEnvironment& operator=(const ExecEnvironment&) = delete;

  // Returns the given environment if nothing needs to change, or if there is no memory.
  char* const* get() const { return variables_; }

 private:
  char* const* variables_;
  void* memory_ = nullptr;  // mapped, since the caller's stack may be small
  unsigned long bytes_ = 0;
};

}  // namespace leakgate::agent
