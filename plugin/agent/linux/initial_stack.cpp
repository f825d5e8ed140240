#include "plugin/agent/linux/initial_stack.h"

#include <cstdint>
#include <cstring>

// A variable of ld.so: where the stack was when the process began. There, by the System V ABI, are
// argc, argv, NULL, the environment, NULL.
extern "C" void* __libc_stack_end;

namespace leakgate::agent {

const char* InitialEnvironment(const char* name) {
  const auto* const argc = static_cast<const std::int64_t*>(__libc_stack_end);
  const auto* const arguments = reinterpret_cast<char* const*>(argc + 1);
  const std::size_t length = std::strlen(name);
  for (char* const* variable = arguments + *argc + 1; *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, name, length) == 0 && (*variable)[length] == '=') {
      return *variable + length + 1;
    }
  }
  return nullptr;
}

}  // namespace leakgate::agent
