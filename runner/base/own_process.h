// This process and the system's users, for rooms that are portable.
#pragma once

#include <optional>
#include <string>

namespace leakgate {

[[nodiscard]] int OwnPid();

// Returns the number of the user whose rights this process has; 0 is root.
[[nodiscard]] unsigned EffectiveUser();

// Returns the number of the user called `name`; nothing if there is none. Not thread-safe
// (getpwnam).
[[nodiscard]] std::optional<unsigned> FindUser(const std::string& name);

}  // namespace leakgate
