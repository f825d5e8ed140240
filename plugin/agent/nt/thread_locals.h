// The thread-local variables of ../threads/thread_locals.h, which includes this. GCC emulates
// thread_local for Windows, by a function that allocates. So the agent has memory of its own for
// each thread, and a slot of TlsAlloc leads there. The first 64 slots are in the thread's
// environment block itself, at an offset that winternl.h gives (TEB::TlsSlots).
#pragma once

#include <cstdint>

namespace leakgate::agent {

struct ThreadLocals {
  ThreadHandle handle;
  ThreadFacts facts;
};

extern LEAKGATE_INTERNAL std::uint64_t g_thread_slot;
// For threads that have none, or for which there is no memory. Whoever records is a drop
// (CanRecord).
extern LEAKGATE_INTERNAL ThreadLocals g_no_locals;

// Finds a slot. Returns false if none of the first 64 is left.
[[nodiscard]] bool PrepareThreadLocals();

// Makes those of this thread. If there is no memory, returns some in which the thread cannot
// record.
ThreadLocals& MakeThreadLocals();

// Gives back those of this thread, which ends.
void EndThreadLocals();

// Returns nullptr if the thread has none yet.
inline ThreadLocals* FindThreadLocals() {
  ThreadLocals* locals = nullptr;
  asm("movq %%gs:0x1480(,%1,8), %0" : "=r"(locals) : "r"(g_thread_slot));
  return locals;
}

inline ThreadLocals& OwnThread() {
  ThreadLocals* const locals = FindThreadLocals();
  return __builtin_expect(locals != nullptr, 1) ? *locals : MakeThreadLocals();
}

// This thread, for several uses of its handle, which is looked up once. If the thread has none yet,
// it is one that is not ready.
class KnownThread {
 public:
  KnownThread() {
    ThreadLocals* locals = FindThreadLocals();
    if (__builtin_expect(locals == nullptr, 0)) {
      // Hidden, so that GCC makes a branch: a choice of the two would be waited for in each call.
      asm("" : "=r"(locals) : "0"(&g_no_locals));
    }
    handle_ = &locals->handle;
  }
  ThreadHandle& handle() const { return *handle_; }

 private:
  ThreadHandle* handle_;
};

}  // namespace leakgate::agent

// As elsewhere these are names of variables, they are names of expressions here.
#define t_thread (::leakgate::agent::OwnThread().handle)
#define t_facts (::leakgate::agent::OwnThread().facts)
