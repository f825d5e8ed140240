// For Windows: makes a program import leakgate's agent itself, so that nothing need be changed in
// its process. The agent's library must be found beside the program or on the PATH, also where the
// program is not traced; then the agent does nothing.
//
// The runner writes what the agent needs into the section ".lkgate" (leakgate's
// common/nt_agent_block.h), and finds the section by its name.
#include "leakgate/agent.h"

#if defined(_MSC_VER)
#pragma section(".lkgate", read, write)
#pragma comment(linker, "/include:leakgate_agent_block")
#pragma comment(linker, "/include:leakgate_imported_agent")
#define LEAKGATE_IN_SECTION __declspec(allocate(".lkgate"))
#else
#define LEAKGATE_IN_SECTION __attribute__((section(".lkgate"), used))
#endif

extern "C" {

LEAKGATE_IN_SECTION char leakgate_agent_block[64] = {};

// Nobody calls it: it makes the linker import the agent.
const LeakgateAgent* leakgate_imported_agent() { return leakgate_agent(LEAKGATE_AGENT_VERSION); }

}  // extern "C"
