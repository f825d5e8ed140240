// The creation of threads. std::thread comes by here; C11's thrd_create calls the C
// library's inside, and its threads are known from their first allocation on.
#include <pthread.h>

#include "plugin/agent/interpose.h"
#include "plugin/agent/thread_start.h"

using namespace leakgate::agent;

LEAKGATE_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                   ThreadFunction function, void* argument) noexcept {
  if (CurrentRoute() != Route::kTrace) {
    return g_host.pthread_create(thread, attributes, function, argument);
  }
  ThreadTicket* const ticket = TakeTicket(function, argument, attributes, LEAKGATE_CALLER());
  if (ticket == nullptr) return g_host.pthread_create(thread, attributes, function, argument);
  const int result = g_host.pthread_create(thread, attributes, RunTicket, ticket);
  if (result != 0) CancelTicket(ticket);
  return result;
}
