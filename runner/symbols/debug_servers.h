// Servers of debug files (debuginfod). elfutils asks those that DEBUGINFOD_URLS names for what
// it finds nowhere else; without the variable, nobody. Here is what it leaves open: how long a
// server may say nothing, and what becomes of one that does.
//
// For commands that look at snapshots, on their one thread. Others take the variable out of
// their environment (attach/program_environment.h).
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace leakgate {

// Before the first lookup: what DEBUGINFOD_TIMEOUT and DEBUGINFOD_RETRY_LIMIT are, unless the
// user has set them. elfutils' own would be three times 90 s, for each module.
void LimitPatienceWithServers();

// One lookup that may ask a server, from construction to End.
class ServerLookup {
 public:
  ServerLookup() : begin_(std::chrono::steady_clock::now()) {}

  // Where nothing was found after as long as a server may be silent: none is asked any more.
  enum class Outcome { kFound, kNotFound };
  void End(Outcome outcome) const;

 private:
  const std::chrono::steady_clock::time_point begin_;
};

struct SilentServers {
  std::string urls;
  std::chrono::seconds patience{};
};
// Those that are asked no more.
[[nodiscard]] const std::optional<SilentServers>& ServersGivenUp();

}  // namespace leakgate
