#include "runner/cli/profiler/replace_process.h"

namespace leakgate {

// Nobody has a session to execute a program in (sessions/nt/session_owner.cpp).
std::string ReplaceProcess(const std::filesystem::path&, std::vector<std::string>,
                           std::vector<std::string>) {
  return "no process can take another's place on Windows; start it by leakgate run";
}

}  // namespace leakgate
