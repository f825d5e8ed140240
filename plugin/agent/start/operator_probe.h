// Tries out the program's own operators new and delete (common/operator_probe.h).
#pragma once

namespace leakgate::agent {

// Sends the runner the results, and waits until the runner has scanned the process. REQUIRES:
// static initialisation is done, and main is not called later, because the program may not expect
// the effects of its operators.
void ProbeOperators();

}  // namespace leakgate::agent
