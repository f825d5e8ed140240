// The agent's end of the control protocol (common/control_protocol.h).
#pragma once

namespace leakgate::agent {

// Asks the runner at the abstract socket `name` whether this process is to be
// traced. Returns the region's descriptor, or -1: not enabled, no runner, or
// one of another user or version.
int RequestRegion(const char* name);

}  // namespace leakgate::agent
