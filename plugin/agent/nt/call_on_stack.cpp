// Nothing needs another stack: there are no signal handlers.
#include "plugin/agent/arch/call_on_stack.h"

namespace leakgate::agent {

void leakgate_call_on_stack(void*, void (*function)(void*), void* argument) { function(argument); }

}  // namespace leakgate::agent
