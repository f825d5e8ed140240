// What a thread takes along from the one that creates it: where that was, and what it
// is to run.
//
//   creator   TakeTicket   pthread_create(..., RunTicket, ticket)   failed: CancelTicket
//   thread    RunTicket    returns the ticket, is registered, runs the host's function
//
// Tickets are few and static, taken and returned without a lock: no allocation of the
// host's, nothing to deadlock on in a signal handler. They are no memory that the
// runner is told of as the agent's own: until the thread begins, its ticket may be all
// that points to its argument.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "plugin/agent/arch/caller_frame.h"

namespace leakgate::agent {

using ThreadFunction = void* (*)(void*);

struct ThreadTicket;

// For the thread that `caller` creates with `attributes`. nullptr if none is left, or this thread
// cannot record: then the new one is not told where it comes from.
ThreadTicket* TakeTicket(ThreadFunction function, void* argument, const pthread_attr_t* attributes,
                         const CallerFrame& caller);
// No thread was created.
void CancelTicket(ThreadTicket* ticket);

// The new thread's function; `ticket` is a ThreadTicket.
void* RunTicket(void* ticket);

}  // namespace leakgate::agent
