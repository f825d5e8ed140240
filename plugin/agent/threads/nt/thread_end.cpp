// The agent's library is told of each thread's end (DLL_THREAD_DETACH), after all libraries that
// were initialised behind it.
#include "plugin/agent/threads/thread_end.h"

namespace leakgate::agent {

bool PrepareThreadEnds() { return true; }

void AskForThreadEnd() {}

// Names are not read: few programs give any.
void ReadThreadName(char (&)[16]) {}

}  // namespace leakgate::agent
