#include "runner/cli/agent_location.h"

namespace leakgate {

std::filesystem::path FindAgent() {
  std::error_code error;
  const std::filesystem::path runner = std::filesystem::read_symlink("/proc/self/exe", error);
  return runner.parent_path().parent_path() / LEAKGATE_LIBDIR / "libleakgate_agent.so";
}

}  // namespace leakgate
