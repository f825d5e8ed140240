#include "runner/snapshot/file/describe_process.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include "runner/process/proc_files.h"

namespace leakgate {

MachineFacts DescribeMachine() {
  MachineFacts facts;
  utsname machine;
  if (::uname(&machine) == 0) {
    facts.host = machine.nodename;
    facts.kernel = fmt::format("{} {} {}", machine.sysname, machine.release, machine.machine);
  }
  const std::string text = ReadProcFile("/proc/sys/kernel/random/boot_id").value_or("");
  facts.boot_id = text.substr(0, text.find('\n'));
  return facts;
}

}  // namespace leakgate
