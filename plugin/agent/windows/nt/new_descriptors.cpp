// Handles that a suite has left open are not told yet: a limit on descriptors is refused by the
// runner.
#include "plugin/agent/windows/new_descriptors.h"

namespace leakgate::agent {

void ForgetFreeDescriptors() {}

void NoteFreeDescriptors() {}

bool HasNewDescriptors() { return false; }

}  // namespace leakgate::agent
