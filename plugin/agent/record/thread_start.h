// What a thread gets from the thread that creates it: where it was created, and the function to
// run; and its stack, as a recorded mapping.
//
//   creator   TakeTicket   pthread_create(..., RunTicket, ticket)   failed: CancelTicket
//   thread    RunTicket    returns the ticket, is registered, runs the host's function
//
// Tickets are few and static. They are taken and returned without a lock, so nothing allocates and
// no signal handler can deadlock. Until a thread begins, its ticket may be all that points to its
// argument, so the runner learns where the tickets are.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "common/region_layout.h"
#include "plugin/agent/arch/caller_frame.h"

namespace leakgate::agent {

using ThreadFunction = void* (*)(void*);

struct ThreadTicket;

// Returns where all tickets are.
[[nodiscard]] KeptRange MemoryOfTickets();

// Returns a ticket for the thread that `caller` creates with `attributes`. Returns nullptr if none
// is left, or if this thread cannot record: then the origin of the new thread is unknown.
ThreadTicket* TakeTicket(ThreadFunction function, void* argument, const pthread_attr_t* attributes,
                         const CallerFrame& caller);
// Returns the ticket: no thread was created.
void CancelTicket(ThreadTicket* ticket);

// The new thread's function; `ticket` is a ThreadTicket.
void* RunTicket(void* ticket);

}  // namespace leakgate::agent
