// The program's limit on its address space (RLIMIT_AS), without the part that the agent takes.
//
// A test that lowers the limit to less than the size of the region could map nothing more. So the
// kernel gets a limit that is larger by the agent's size, and the program sees its own:
//
//   the program sets 512 MiB; the agent has 1 GiB   ->  the kernel's limit is 1.5 GiB
//   the program asks                                <-  512 MiB
//
// A limit that is larger than all that is mapped is forwarded unchanged: the program may have read
// how much that is, including the agent's memory.
#pragma once

#include <sys/resource.h>

namespace leakgate::agent {

// Sets the limit to `wanted` unless that is null, and returns the previous one in `before` unless
// that is null. Returns 0, or the error. Only one thread may set it at a time. REQUIRES: tracing is
// on.
[[nodiscard]] int ChangeAddressSpaceLimit(const rlimit64* wanted, rlimit64* before);

}  // namespace leakgate::agent
