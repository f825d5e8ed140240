// Debuginfod has no files for Windows. A server of symbols is asked by DbgHelp, where the user has
// named one (_NT_SYMBOL_PATH).
#include "runner/symbols/debug_servers.h"

namespace leakgate {

void LimitPatienceWithServers() {}

void ServerLookup::End(Outcome) const {}

const std::optional<SilentServers>& ServersGivenUp() {
  static const std::optional<SilentServers> none;
  return none;
}

}  // namespace leakgate
