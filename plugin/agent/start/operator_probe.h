// Tries out the program's own operators new and delete (common/operator_probe.h).
#pragma once

namespace leakgate::agent {

// Sends the runner what it has found, and waits until the runner has scanned the process. REQUIRES:
// static initialisation is done, and main is not called later: the program may not expect what its
// operators have done.
void ProbeOperators();

}  // namespace leakgate::agent
