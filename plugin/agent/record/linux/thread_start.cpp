#include "plugin/agent/record/thread_start.h"

#include <atomic>

#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/linux/monotonic_time.h"
#include "plugin/agent/mappings/mapping_table.h"
#include "plugin/agent/record/recorder.h"
#include "plugin/agent/threads/thread_stack.h"
#include "plugin/agent/windows/windows.h"

namespace leakgate::agent {

struct ThreadTicket {
  std::atomic<bool> is_taken;
  ThreadFunction function;
  void* argument;
  ThreadOrigin origin;
  std::uint32_t stack_mapping;  // 0: none
};

namespace {

// Threads that have been created and have not begun yet.
constexpr std::uint32_t kTickets = 1024;
constinit ThreadTicket g_tickets[kTickets] = {};
constinit std::atomic<std::uint32_t> g_next{0};  // relaxed: only where a search begins

ThreadTicket* FindTicket() {
  const std::uint32_t first = g_next.fetch_add(1, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < kTickets; ++i) {
    ThreadTicket& ticket = g_tickets[(first + i) % kTickets];
    // Acquire pairs with the release in ReturnTicket.
    if (!ticket.is_taken.exchange(true, std::memory_order_acquire)) return &ticket;
  }
  return nullptr;
}

// The size of the stack that the C library will map, without its guard; 0 if the program provides
// the stack.
std::uint64_t BytesOfStack(const pthread_attr_t* attributes) {
  pthread_attr_t defaults;
  if (attributes == nullptr) {
    if (pthread_attr_init(&defaults) != 0) return 0;
    attributes = &defaults;
  }
  // If no stack is set, the C library reports its address as 0 minus the size.
  void* begin = nullptr;
  std::size_t bytes = 0;
  pthread_attr_getstack(attributes, &begin, &bytes);
  const bool is_provided = reinterpret_cast<std::uint64_t>(begin) + bytes != 0;
  pthread_attr_getstacksize(attributes, &bytes);  // the default, where none is set
  if (attributes == &defaults) pthread_attr_destroy(&defaults);
  return is_provided ? 0 : bytes;
}

// Records the stack of a thread that is created with `attributes`, which may be nullptr, by the
// call at `stack`. Returns 0 if there is nothing to record.
std::uint32_t AddStackOf(Recording recording, const pthread_attr_t* attributes,
                         std::uint32_t stack) {
  const std::uint64_t bytes = BytesOfStack(attributes);
  if (bytes == 0) return 0;
  const std::uint32_t context = ContextNow(recording);
  if (context == 0) return 0;
  return g_mappings.AddStack(bytes, {stack, context, MonotonicTime()});
}

void FillOrigin(const pthread_attr_t* attributes, const CallerFrame& caller, ThreadTicket& ticket) {
  const RecordingGuard guard;
  SettleWindows(guard);
  ticket.origin.span = g_span;
  ticket.origin.parent = t_thread.state->thread;
  ticket.origin.stack = StackAt(guard, caller);
  ticket.origin.birth_window = g_region.header().current_window.load(std::memory_order_relaxed);
  ticket.stack_mapping = AddStackOf(guard, attributes, ticket.origin.stack);
}

void ReturnTicket(ThreadTicket* ticket) {
  ticket->argument = nullptr;
  ticket->is_taken.store(false, std::memory_order_release);
}

}  // namespace

KeptRange MemoryOfTickets() {
  const auto begin = reinterpret_cast<std::uint64_t>(g_tickets);
  return {begin, begin + sizeof(g_tickets)};
}

ThreadTicket* TakeTicket(ThreadFunction function, void* argument, const pthread_attr_t* attributes,
                         const CallerFrame& caller) {
  if (!CanRecord()) return nullptr;
  ThreadTicket* const ticket = FindTicket();
  if (ticket == nullptr) return nullptr;
  ticket->function = function;
  ticket->argument = argument;
  FillOrigin(attributes, caller, *ticket);
  return ticket;
}

void CancelTicket(ThreadTicket* ticket) {
  if (CanRecord()) {
    const RecordingGuard guard;
    if (ticket->stack_mapping != 0) g_mappings.ForgetStack(ticket->stack_mapping);
  }
  ReturnTicket(ticket);
}

void* RunTicket(void* given) {
  // This is called by the C library's first function of the thread. If another function were in
  // between, it might be called again.
  const CallerFrame caller = LEAKGATE_CALLER_FRAME();
  NoteFirstFrame({.pc = caller.pc, .sp = caller.sp, .most_outward = 1});
  auto* const ticket = static_cast<ThreadTicket*>(given);
  const ThreadFunction function = ticket->function;
  void* const argument = ticket->argument;
  const ThreadOrigin origin = ticket->origin;
  const std::uint32_t stack_mapping = ticket->stack_mapping;
  ReturnTicket(ticket);
  BeginThread(origin);
  if (IsTracing() && origin.span == g_span) TakeStack(stack_mapping);
  // This is a tail call, so that it takes this frame's place: the thread's stack is as it would be
  // without the agent.
  return function(argument);
}

}  // namespace leakgate::agent
