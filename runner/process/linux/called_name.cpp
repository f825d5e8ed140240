#include "runner/process/called_name.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <sstream>
#include <system_error>

#include "runner/base/linux/proc_place.h"
#include "runner/process/linux/open_proc_file.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

bool LeadsTo(const fs::path& name, const fs::path& image) {
  std::error_code error;
  return fs::equivalent(name, image, error) && !error;
}

// Returns what was passed to exec. It lies in the process's memory, after its environment.
std::string ExecutedName(int pid) {
  const auto address = AuxiliaryValue(ReadAuxiliary(pid), AT_EXECFN);
  const UniqueFd memory = address ? OpenProcFile(pid, "mem") : UniqueFd();
  if (!memory) return "";
  char text[PATH_MAX];
  const ssize_t bytes =
      ::pread(memory.get(), text, sizeof(text), static_cast<off_t>(address.value()));
  return bytes <= 0 ? "" : std::string(text, ::strnlen(text, static_cast<std::size_t>(bytes)));
}

std::string SearchPathOf(int pid) {
  std::istringstream environment(ReadProcBegin(pid, "environ", kMostEnvironment));
  for (std::string variable; std::getline(environment, variable, '\0');) {
    if (variable.starts_with("PATH=")) return variable.substr(std::strlen("PATH="));
  }
  return "";
}

}  // namespace

std::string CalledName(const fs::path& called, const fs::path& image) {
  return LeadsTo(called, image) ? called.string() : image.string();
}

std::string CalledName(const ProgramCall& call, const std::string& image) {
  std::vector<fs::path> names;
  for (const std::string& name : {call.executed, call.first_argument}) {
    if (!name.empty()) names.push_back(call.directory / name);
  }
  if (call.first_argument.find('/') == std::string::npos) {
    std::istringstream directories(call.search_path);
    for (std::string directory; std::getline(directories, directory, ':');) {
      names.push_back(call.directory / directory / call.first_argument);
    }
  }
  for (const fs::path& name : names) {
    if (name.is_absolute() && LeadsTo(name, image)) return name.lexically_normal().string();
  }
  return image;
}

std::string CalledNameOf(int pid, const std::string& image,
                         const std::vector<std::string>& arguments) {
  return CalledName({.executed = ExecutedName(pid),
                     .first_argument = arguments.empty() ? "" : arguments.front(),
                     .directory = ReadLinkOf(fmt::format("/proc/{}/cwd", pid)),
                     .search_path = SearchPathOf(pid)},
                    image);
}

}  // namespace leakgate
