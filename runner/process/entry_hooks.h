// The functions of an allocator in a program's own executable, and the code that leads calls of
// them to the agent (common/entry_hooks.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/entry_hooks.h"
#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

// A function that a budget file names.
struct NamedEntry {
  std::string name;           // for messages
  std::uint64_t address = 0;  // in the file
  std::uint64_t size_bytes = 0;
  NamedCallSpec spec{};
};

// Makes the code for the process's executable, of which not an instruction has run, or only the
// dynamic linker's. Null if it has no allocator of its own, and nothing is named. Fails, with the
// reason, if a function of the allocator cannot be led to the agent, or one that is named.
[[nodiscard]] Expected<std::unique_ptr<EntryHooks>> MakeEntryHooks(
    int pid, const std::vector<NamedEntry>& named = {});

// Fails as MakeEntryHooks would for a process that runs `file`, an ELF file.
[[nodiscard]] Expected<void> RequireEntryHooks(const UniqueFd& file,
                                               const std::vector<NamedEntry>& named = {});

}  // namespace leakgate
