// The thread-local variables of ../threads/thread_locals.h, which includes this.
#pragma once

namespace leakgate::agent {

extern LEAKGATE_INTERNAL thread_local constinit ThreadHandle t_thread;
extern LEAKGATE_INTERNAL thread_local constinit ThreadFacts t_facts;

// This thread, for several uses of its handle. Its address is a constant.
class KnownThread {
 public:
  ThreadHandle& handle() const { return t_thread; }
};

}  // namespace leakgate::agent
