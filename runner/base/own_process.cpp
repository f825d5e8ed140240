#include "runner/base/own_process.h"

#include <pwd.h>
#include <unistd.h>

namespace leakgate {

int OwnPid() { return ::getpid(); }

unsigned EffectiveUser() { return ::geteuid(); }

std::optional<unsigned> FindUser(const std::string& name) {
  const passwd* const user = ::getpwnam(name.c_str());
  return user == nullptr ? std::nullopt : std::optional<unsigned>(user->pw_uid);
}

}  // namespace leakgate
