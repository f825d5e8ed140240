// Finds what is on its way through the kernel and may come back to the process: a pointer in a
// pipe, a socket, a queue of messages, a pending signal or a file that the process can read again
// may be the only one to a block.
//
// Nothing is taken out and nothing is changed. Pipes are duplicated (tee), sockets peeked into
// where no error waits there, signals asked for by ptrace, files read. What can only be read by
// taking it is told as unread.
#pragma once

#include <string>
#include <vector>

#include "runner/reach/linux/frozen_process.h"
#include "runner/reach/linux/kernel_words.h"

namespace leakgate {

struct KernelQueues {
  std::vector<KernelObject> read;   // with the words that are in there, at any offset
  std::vector<std::string> unread;  // the names of those that hold at least a pointer's bytes
};

// Never fails. REQUIRES: this thread has stopped `threads`, which are all of the process, or they
// sleep.
[[nodiscard]] KernelQueues FindKernelQueues(int pid, const std::vector<FrozenThread>& threads);

}  // namespace leakgate
