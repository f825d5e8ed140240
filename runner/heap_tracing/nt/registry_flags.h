// The value by which Windows traces the heaps of a program: TracingFlags, in the Image File
// Execution Options of the 64-bit registry, by the name of the program's file. Windows reads it
// when a process is created. Each function takes the value as it is now; nt/image_sessions.h keeps
// the order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/heap_tracing/flag_journal.h"

namespace leakgate {

// What stands there, and how many of the keys that lead to it are missing.
struct RegistryFlag {
  std::optional<FlagValue> value;
  int missing_keys = 0;
};

// Fails if the value cannot be read, or is longer than any number or text that Windows takes.
[[nodiscard]] Expected<RegistryFlag> ReadFlag(const FlaggedImage& image);

// Returns why this user may not change any flag. Asks for the right to do so, and changes nothing.
[[nodiscard]] Expected<void> MayChangeFlags();

// Makes the keys that are missing. A usage error says that it takes an administrator.
[[nodiscard]] Expected<void> WriteFlag(const FlaggedImage& image, const FlagValue& value);

// Puts the value back as it was, and removes the `new_keys` innermost keys where they are empty.
// Succeeds if the value is gone already.
[[nodiscard]] Expected<void> RestoreFlag(const FlaggedImage& image,
                                         const std::optional<FlagValue>& former, int new_keys);

struct FoundFlag {
  FlaggedImage image;
  FlagValue value;
  std::int64_t change_seconds = 0;  // since 1970: when the key was changed last
};
// Returns the flags of all images that have any.
[[nodiscard]] Expected<std::vector<FoundFlag>> FindFlags();

}  // namespace leakgate
