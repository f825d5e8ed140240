// Declares in the code which leaks it leaves on purpose, with the reason. For C++14 and later. You
// need to link nothing, except the dynamic linker's library if dlsym is not in the C library.
// Without leakgate, these do nothing.
//
//   leakgate::ScopedAllowance allow("the registry lives as long as the program");
//   Registry::Instance().Add(...);           // on this thread, until the block's end
//
//   leakgate::ExpectOutstanding(64, 1, "the pool keeps one block for the next test");
//
// What a scope allows may be limited by {bytes, blocks}, where -1 is no limit. Scopes nest: a block
// is within the innermost.
#ifndef LEAKGATE_ALLOWANCE_H_
#define LEAKGATE_ALLOWANCE_H_

#include "leakgate/agent.h"
#include "leakgate/system.h"

namespace leakgate {
namespace internal {

// Returns null if this process is not traced. The dynamic linker is asked once.
inline const LeakgateAgent* Agent() {
  static const LeakgateAgent* const agent = FindAgent(LEAKGATE_AGENT_WITH_ALLOWANCES);
  return agent;
}

}  // namespace internal

// At most so many bytes and so many blocks; -1 for no limit.
struct AllowanceLimits {
  long long bytes;
  long long blocks;
};

// Allows what this thread allocates while the object lives, but no longer than the test. It is for
// local variables: it must end on the thread on which it began, and in the reverse order. One that
// is still active when its test has ended allows nothing, and leakgate reports it.
class ScopedAllowance {
 public:
  explicit ScopedAllowance(const char* reason, const char* file = __builtin_FILE(),
                           unsigned line = __builtin_LINE())
      : ScopedAllowance(reason, AllowanceLimits{-1, -1}, file, line) {}
  ScopedAllowance(const char* reason, AllowanceLimits limits, const char* file = __builtin_FILE(),
                  unsigned line = __builtin_LINE()) {
    const LeakgateAllowance allowance = {reason, file, line, limits.bytes, limits.blocks};
    if (internal::Agent() != nullptr) before_ = internal::Agent()->begin_allowance(&allowance);
  }
  ~ScopedAllowance() {
    if (internal::Agent() != nullptr) internal::Agent()->end_allowance(before_);
  }
  ScopedAllowance(const ScopedAllowance&) = delete;
  ScopedAllowance& operator=(const ScopedAllowance&) = delete;

 private:
  unsigned before_ = LEAKGATE_NOT_BEGUN;
};

// Declares that the running test leaves `bytes` in `blocks` on purpose; -1 for no limit. If it is
// called again at the same place in the same test, with the same numbers, it counts once.
inline void ExpectOutstanding(long long bytes, long long blocks, const char* reason,
                              const char* file = __builtin_FILE(),
                              unsigned line = __builtin_LINE()) {
  const LeakgateAllowance allowance = {reason, file, line, bytes, blocks};
  if (internal::Agent() != nullptr) internal::Agent()->expect_outstanding(&allowance);
}

}  // namespace leakgate

#endif  // LEAKGATE_ALLOWANCE_H_
