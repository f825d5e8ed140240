// Tries out the program's own operators new and delete (common/operator_probe.h).
#pragma once

namespace leakgate::agent {

// Tells the runner, and waits until it has looked. REQUIRES: static initialisation is done, and
// main is not called: the program may not stand what its operators have been through.
void ProbeOperators();

}  // namespace leakgate::agent
