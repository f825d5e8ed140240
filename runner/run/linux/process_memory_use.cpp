#include "runner/run/process_memory_use.h"

#include <unistd.h>

#include <sstream>

#include "runner/process/proc_files.h"

namespace leakgate {

std::uint64_t OwnBytesOf(int pid) {
  std::istringstream pages(ReadProcBegin(pid, "statm", 256));
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  std::uint64_t shared = 0;
  if (!(pages >> all >> resident >> shared) || shared > resident) return 0;
  return (resident - shared) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace leakgate
