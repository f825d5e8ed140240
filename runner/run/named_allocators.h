// Finds the functions of a program that budget files name ("allocators"), which the agent is to
// stand in front of.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/budget/budget_file.h"
#include "runner/process/entry_hooks.h"

namespace leakgate {

// Returns those that `executable` has. An allocator of which it has no function is another
// program's. Fails if it has some of an allocator's functions only, or if calls of one cannot be
// seen: what it gives out would count for freed, or for lost. Any thread may call it; what it has
// found in a file is remembered.
[[nodiscard]] Expected<std::vector<NamedEntry>> FindNamedAllocators(
    const std::filesystem::path& executable, const std::vector<const BudgetFile*>& files);

// Fails as tracing such a program would.
[[nodiscard]] Expected<void> RequireNamedAllocators(const std::filesystem::path& executable,
                                                    const std::vector<const BudgetFile*>& files);

// Returns the file of the program that the process executes, for this function. Empty on Windows.
[[nodiscard]] std::filesystem::path ProgramFileOf(int pid);

}  // namespace leakgate
