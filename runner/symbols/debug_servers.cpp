#include "runner/symbols/debug_servers.h"

#include <cstdlib>

namespace leakgate {
namespace {

constexpr char kServers[] = "DEBUGINFOD_URLS";
constexpr char kTimeout[] = "DEBUGINFOD_TIMEOUT";
constexpr int kKeepTheUsers = 0;

std::optional<SilentServers>& GivenUp() {
  static std::optional<SilentServers> given_up;
  return given_up;
}

// 0: as long as it likes.
std::chrono::seconds Patience() {
  const char* const text = std::getenv(kTimeout);
  return std::chrono::seconds(text == nullptr ? 0 : std::atoi(text));
}

}  // namespace

void LimitPatienceWithServers() {
  ::setenv(kTimeout, "10", kKeepTheUsers);
  ::setenv("DEBUGINFOD_RETRY_LIMIT", "0", kKeepTheUsers);
}

void ServerLookup::End(Outcome outcome) const {
  const char* const servers = std::getenv(kServers);
  const std::chrono::seconds patience = Patience();
  if (outcome == Outcome::kFound || servers == nullptr || patience.count() == 0) return;
  if (std::chrono::steady_clock::now() - begin_ < patience) return;
  GivenUp() = SilentServers{servers, patience};
  ::unsetenv(kServers);
}

const std::optional<SilentServers>& ServersGivenUp() { return GivenUp(); }

}  // namespace leakgate
