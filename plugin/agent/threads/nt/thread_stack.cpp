// The stacks of threads are not recorded as mappings yet.
#include "plugin/agent/threads/thread_stack.h"

namespace leakgate::agent {

void TakeStack(std::uint32_t) {}

void EndStack() {}

}  // namespace leakgate::agent
