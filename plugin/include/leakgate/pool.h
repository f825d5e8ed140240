/* Tells leakgate of the blocks of a pool: an arena, a free list, an allocator of your own that
 * divides memory which it has from malloc, from the system, or from anywhere else. For C99 and
 * C++14, and later. You need to link nothing, except the dynamic linker's library if dlsym is not
 * in the C library.
 *
 *   leakgate_pool pool = leakgate_pool_create("nodes");
 *   leakgate_pool_allocate(pool, node, sizeof(*node));   // the pool gives it out
 *   leakgate_pool_free(pool, node);                      // and takes it back
 *   leakgate_pool_reset(pool);                           // and takes back all
 *   leakgate_pool_destroy(pool);                         // likewise, and there is no pool any more
 *
 * Each block of a pool is then judged as one of malloc's: it has a test, a call stack, an owner and
 * a budget, and it is lost if nothing leads to it. Memory that has a live block of a pool in it
 * counts no more itself. A pool may have its memory from another pool.
 *
 * Call leakgate_pool_allocate in the function of yours that gives the block out: whoever calls that
 * is told as the place of the allocation. If your pool's memory is freed or unmapped, so are the
 * blocks in it. Before memory is used for something else, such as an array on the stack, reset the
 * pool.
 *
 * Without leakgate, each call costs a comparison. The functions may be called on any thread. A pool
 * that was created before leakgate began to trace the process is not recorded. */
#ifndef LEAKGATE_POOL_H_
#define LEAKGATE_POOL_H_

#include <stddef.h>
#include <string.h>

#include "leakgate/agent.h"

#if defined(__cplusplus)
#include "leakgate/system.h"
#elif defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

#if defined(_MSC_VER)
#define LEAKGATE_POOL_FUNCTION static inline
#else
#define LEAKGATE_POOL_FUNCTION static inline __attribute__((always_inline, unused))
#endif

/* 0 stands for a pool that nobody records. */
typedef unsigned leakgate_pool;

/* Users' code does not need this. Returns null if this process is not traced. */
static inline const LeakgateAgent* leakgate_pool_agent(void) {
#if defined(__cplusplus)
  return leakgate::internal::FindAgent(LEAKGATE_AGENT_WITH_POOLS);
#else
  LeakgateAgentFunction find = NULL;
#if defined(_WIN32)
  const HMODULE library = GetModuleHandleA("leakgate_agent64.dll");
  if (library != NULL) {
    const FARPROC symbol = GetProcAddress(library, LEAKGATE_AGENT_SYMBOL);
    memcpy(&find, &symbol, sizeof(find));
  }
#else
  void* const symbol = dlsym(NULL /* RTLD_DEFAULT */, LEAKGATE_AGENT_SYMBOL);
  memcpy(&find, &symbol, sizeof(find));
#endif
  return find == NULL ? NULL : find(LEAKGATE_AGENT_WITH_POOLS);
#endif
}

/* The agent; asked for again if it was not there. */
static inline const LeakgateAgent* leakgate_pool_known_agent(void) {
#if defined(_MSC_VER)
  static const LeakgateAgent* volatile known = NULL;
  if (known == NULL) known = leakgate_pool_agent();
  return known;
#else
  static const LeakgateAgent* known = NULL;
  const LeakgateAgent* agent = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
  if (agent == NULL) {
    agent = leakgate_pool_agent();
    __atomic_store_n(&known, agent, __ATOMIC_RELEASE);
  }
  return agent;
#endif
}

/* The name is for people; several pools may have the same one. */
LEAKGATE_POOL_FUNCTION leakgate_pool leakgate_pool_create(const char* name) {
  const LeakgateAgent* const agent = leakgate_pool_known_agent();
  return agent == NULL ? 0 : agent->create_pool(name);
}

/* The pool has given out `bytes` at `block`, which may be at any address. A null pointer and a
 * block of no bytes are no blocks. */
LEAKGATE_POOL_FUNCTION void leakgate_pool_allocate(leakgate_pool pool, const void* block,
                                                   size_t bytes) {
  if (pool == 0) return;
  leakgate_pool_known_agent()->allocate_in_pool(pool, block, bytes);
}

/* The pool has taken the block back. Call it before another thread may be given the block. */
LEAKGATE_POOL_FUNCTION void leakgate_pool_free(leakgate_pool pool, const void* block) {
  if (pool == 0) return;
  leakgate_pool_known_agent()->free_in_pool(pool, block);
}

/* The pool has taken back all of its blocks. */
LEAKGATE_POOL_FUNCTION void leakgate_pool_reset(leakgate_pool pool) {
  if (pool == 0) return;
  leakgate_pool_known_agent()->reset_pool(pool);
}

/* Likewise; the pool must not be used any more. */
LEAKGATE_POOL_FUNCTION void leakgate_pool_destroy(leakgate_pool pool) {
  if (pool == 0) return;
  leakgate_pool_known_agent()->destroy_pool(pool);
}

#if defined(__cplusplus)
namespace leakgate {

/* The same as an object. A pool can be moved. */
class Pool {
 public:
  explicit Pool(const char* name) : pool_(leakgate_pool_create(name)) {}
  ~Pool() { leakgate_pool_destroy(pool_); }
  Pool(Pool&& other) noexcept : pool_(other.pool_) { other.pool_ = 0; }
  Pool& operator=(Pool&& other) noexcept {
    const leakgate_pool own = pool_;
    pool_ = other.pool_;
    other.pool_ = own;
    return *this;
  }

  void Allocated(const void* block, size_t bytes) const {
    leakgate_pool_allocate(pool_, block, bytes);
  }
  void Freed(const void* block) const { leakgate_pool_free(pool_, block); }
  void Reset() const { leakgate_pool_reset(pool_); }

 private:
  leakgate_pool pool_;
};

}  // namespace leakgate
#endif

#endif /* LEAKGATE_POOL_H_ */
