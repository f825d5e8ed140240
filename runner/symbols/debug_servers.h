// Debuginfod servers, which have debug information by build-ids.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace leakgate {

// Debuginfod servers. elfutils asks the servers of DEBUGINFOD_URLS for what it finds nowhere else,
// and asks none if the variable is not set. leakgate limits how long a server may be silent, and
// asks no server again after one has been silent for so long.
//
// Used by the commands that read snapshots, on their only thread. Other commands remove the
// variable from their environment (attach/program_environment.h).

// Sets DEBUGINFOD_TIMEOUT and DEBUGINFOD_RETRY_LIMIT unless the user has set them; elfutils would
// wait three times 90 s for each module. Must be called before the first lookup.
void LimitPatienceWithServers();

// Measures one lookup that may ask a server: it begins with the constructor.
class ServerLookup {
 public:
  ServerLookup() : begin_(std::chrono::steady_clock::now()) {}

  // If nothing was found in the time that a server may be silent, no server is asked any more.
  enum class Outcome { kFound, kNotFound };
  void End(Outcome outcome) const;

 private:
  const std::chrono::steady_clock::time_point begin_;
};

struct SilentServers {
  std::string urls;
  std::chrono::seconds patience{};  // how long leakgate waited for them
};
// Returns the servers that are asked no more; nullopt if none has been silent for too long.
[[nodiscard]] const std::optional<SilentServers>& ServersGivenUp();

}  // namespace leakgate
