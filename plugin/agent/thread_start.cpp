#include "plugin/agent/thread_start.h"

#include <atomic>

#include "plugin/agent/recorder.h"
#include "plugin/agent/windows.h"

namespace leakgate::agent {

struct ThreadTicket {
  std::atomic<bool> is_taken;
  ThreadFunction function;
  void* argument;
  ThreadOrigin origin;
};

namespace {

// Threads that have been created and have not begun yet.
constexpr std::uint32_t kTickets = 1024;
constinit ThreadTicket g_tickets[kTickets] = {};
constinit std::atomic<std::uint32_t> g_next{0};

ThreadTicket* FindTicket() {
  const std::uint32_t first = g_next.fetch_add(1, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < kTickets; ++i) {
    ThreadTicket& ticket = g_tickets[(first + i) % kTickets];
    // Acquire pairs with the release in ReturnTicket.
    if (!ticket.is_taken.exchange(true, std::memory_order_acquire)) return &ticket;
  }
  return nullptr;
}

ThreadOrigin OriginAt(const CallerFrame& caller) {
  ThreadOrigin origin;
  {
    const RecordingGuard guard;
    origin.parent = t_thread.state->thread;
    origin.stack = StackAt(guard, caller);
    origin.birth_window = g_region.header().current_window.load(std::memory_order_relaxed);
  }
  NoteUnsettled();  // what the C library allocates next settles
  return origin;
}

}  // namespace

ThreadTicket* TakeTicket(ThreadFunction function, void* argument, const CallerFrame& caller) {
  if (!CanRecord()) return nullptr;
  ThreadTicket* const ticket = FindTicket();
  if (ticket == nullptr) return nullptr;
  ticket->function = function;
  ticket->argument = argument;
  ticket->origin = OriginAt(caller);
  return ticket;
}

void ReturnTicket(ThreadTicket* ticket) {
  ticket->argument = nullptr;
  ticket->is_taken.store(false, std::memory_order_release);
}

void* RunTicket(void* given) {
  auto* const ticket = static_cast<ThreadTicket*>(given);
  const ThreadFunction function = ticket->function;
  void* const argument = ticket->argument;
  const ThreadOrigin origin = ticket->origin;
  ReturnTicket(ticket);
  BeginThread(origin);
  // Called last, so that it takes this frame's place: the thread's stack is as it
  // would be without the agent.
  return function(argument);
}

}  // namespace leakgate::agent
