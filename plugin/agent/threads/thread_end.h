// How the agent learns that a thread ends.
#pragma once

#include <cstdint>

namespace leakgate::agent {

// Called before tracing starts. Returns false if ends of threads cannot be seen.
[[nodiscard]] bool PrepareThreadEnds();

// Makes EndThread (thread_state.h) be called at this thread's end. The system's library may
// allocate for it.
void AskForThreadEnd();

// Writes the name that this thread has now, padded with zeros.
void ReadThreadName(char (&name)[16]);

}  // namespace leakgate::agent
