// The program's limit on its address space (RLIMIT_AS), without what the agent takes of it.
//
// A test that lowers the limit to less than the region takes could map nothing more. So the kernel
// is told a limit that is larger by what is the agent's, and the program is told its own:
//
//   the program sets 512 MiB; the agent has 1 GiB   ->  the kernel's limit is 1.5 GiB
//   the program asks                                <-  512 MiB
//
// A limit that is larger than all that is mapped goes through unchanged: the program may have asked
// how much that is, and counted the agent's in.
#pragma once

#include <sys/resource.h>

namespace leakgate::agent {

// Sets the limit to `wanted` unless that is null, and tells in `before` what it was unless that is
// null. Returns 0, or the error. Only one thread may set it at a time. REQUIRES: tracing is on.
[[nodiscard]] int ChangeAddressSpaceLimit(const rlimit64* wanted, rlimit64* before);

}  // namespace leakgate::agent
