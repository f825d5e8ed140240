// A program that somebody has launched suspended: a signal has stopped it at its very first
// instruction, which is the dynamic linker's. Nothing can be called in it yet. But it can still be
// given what a program that leakgate launches begins with: the preloaded agent.
//
//   PTRACE_TRACEME, exec, PTRACE_DETACH with SIGSTOP      by whoever launches it
//   the variables are laid on its stack                   here; it stays stopped
//   SIGCONT                                               by whoever launched it: traced
//                                                         from the first instruction on
//
// Its first thread is stopped by ptrace meanwhile, which its parent does not see. If the runner is
// killed half way, the program begins as it would have.
#pragma once

#include "runner/attach/attach.h"
#include "runner/base/expected.h"

namespace leakgate {

[[nodiscard]] bool IsAtFirstInstruction(int pid);

// Called on a thread that ends afterwards, with WaitLock held.
// REQUIRES: RequireAttachable and IsAtFirstInstruction hold.
[[nodiscard]] Expected<Attachment> EnableAtBegin(const EnableRequest& request);

}  // namespace leakgate
