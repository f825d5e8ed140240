// The functions of an allocator in a program's own executable, and the code that leads calls of
// them to the agent (common/entry_hooks.h).
#pragma once

#include <memory>

#include "common/entry_hooks.h"
#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

// Makes the code for the process's executable, of which not an instruction has run, or only the
// dynamic linker's. Null if it has no allocator of its own. Fails, with the reason, if a function
// of the allocator cannot be led to the agent.
[[nodiscard]] Expected<std::unique_ptr<EntryHooks>> MakeEntryHooks(int pid);

// Fails as MakeEntryHooks would for a process that runs `file`, an ELF file.
[[nodiscard]] Expected<void> RequireEntryHooks(const UniqueFd& file);

}  // namespace leakgate
