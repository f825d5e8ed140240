#include "plugin/agent/linux/module_path.h"

#include <cstring>

namespace leakgate::agent {

const char* ModulePath(const char* link_name, std::uint64_t begin, PathBuffer& buffer) {
  if (link_name != nullptr && link_name[0] == '/') return link_name;
  if (link_name != nullptr && std::strncmp(link_name, "linux-vdso", 10) == 0) return "[vdso]";
  const char* const path = FindMapping(begin, buffer.text, kMaxPathBytes).path;
  return path == nullptr ? "" : path;
}

}  // namespace leakgate::agent
