#include "runner/process/process_image.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "runner/base/linux/proc_place.h"
#include "runner/base/regular_file.h"
#include "runner/process/called_name.h"
#include "runner/process/image_inspection.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

// The kernel's limits: how many scripts may interpret scripts, and how many bytes of each it reads.
constexpr int kMostInterpreters = 4;
constexpr std::size_t kMostOfInterpreter = 256;

std::string Resolve(const std::string& path) {
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(path, error);
  return error ? path : resolved.string();
}

// Returns "/bin/sh" for a file that begins with "#! /bin/sh -e"; an empty text for no script.
std::string InterpreterOf(const std::string& path) {
  const auto file = OpenRegularFile(path);
  char begin[kMostOfInterpreter];
  const ssize_t bytes = file ? ::pread(file->get(), begin, sizeof(begin), 0) : 0;
  std::string_view line(begin, bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  if (!line.starts_with("#!")) return "";
  line = line.substr(2, line.find('\n') - 2);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return std::string(line.substr(0, line.find_first_of(" \t\r")));
}

// Returns whether an option of glibc's dynamic linker is followed by a value.
bool TakesValue(std::string_view option) {
  constexpr std::string_view kOptions[] = {
      "--library-path",         "--inhibit-rpath",    "--audit", "--preload", "--argv0",
      "--glibc-hwcaps-prepend", "--glibc-hwcaps-mask"};
  return std::find(std::begin(kOptions), std::end(kOptions), option) != std::end(kOptions);
}

}  // namespace

std::string ImageOf(int pid) {
  constexpr std::string_view kDeleted = " (deleted)";
  std::string image = ReadLinkOf(fmt::format("/proc/{}/exe", pid));
  if (image.ends_with(kDeleted)) image.resize(image.size() - kDeleted.size());
  return image;
}

ExecutedProgram ExecutedProgramOf(int pid) {
  const std::string image = ImageOf(pid);
  std::vector<std::string> arguments = ArgumentsOf(pid);
  std::string name = CalledNameOf(pid, image, arguments);
  return {image, std::move(arguments), std::move(name)};
}

std::string ProgramOf(int pid) {
  const std::string image = ImageOf(pid);
  if (!IsDynamicLinker(image)) return image;
  const std::vector<std::string> arguments = ArgumentsOf(pid);
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with("--")) {
      return Resolve(fmt::format("/proc/{}/cwd/", pid) / fs::path(arguments[i]));
    }
    if (TakesValue(arguments[i])) ++i;
  }
  return image;
}

std::string ImageBehind(const std::string& path) {
  std::string image = Resolve(path);
  for (int i = 0; i < kMostInterpreters; ++i) {
    const std::string interpreter = InterpreterOf(image);
    if (interpreter.empty()) break;
    image = Resolve(interpreter);
  }
  return image;
}

std::vector<std::string> ArgumentsOf(int pid) {
  constexpr std::size_t kMostArguments = 1U << 16;
  std::istringstream file(ReadProcBegin(pid, "cmdline", std::size_t{1} << 20));
  std::vector<std::string> arguments;
  for (std::string argument;
       arguments.size() < kMostArguments && std::getline(file, argument, '\0');) {
    arguments.push_back(argument);
  }
  return arguments;
}

UniqueFd WatchEnd(int pid) {
  constexpr unsigned kNoFlags = 0;
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, kNoFlags)));
}

bool HasEnded(const UniqueFd& watch) {
  if (!watch) return true;
  pollfd wait{watch.get(), POLLIN, 0};
  return ::poll(&wait, 1, 0) > 0;
}

void AwaitEnd(const UniqueFd& watch, std::chrono::milliseconds patience) {
  pollfd wait{watch.get(), POLLIN, 0};  // poll passes over a descriptor of -1
  ::poll(&wait, 1, static_cast<int>(patience.count()));
}

namespace {

bool IsExecutableFile(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

Expected<std::filesystem::path> CheckPath(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return UsageError(
        fmt::format("{}: no such program; build it first, or correct the path", path.string()));
  }
  if (std::filesystem::is_regular_file(path, error) && !IsExecutableFile(path)) {
    return UsageError(fmt::format(
        "{0}: not executable: the file has no right to be run; set it (chmod +x {0}), or name the "
        "test binary itself",
        path.string()));
  }
  if (!IsExecutableFile(path)) {
    return UsageError(
        fmt::format("{}: not an executable file; name the test binary itself", path.string()));
  }
  return path;
}

}  // namespace

Expected<std::filesystem::path> FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return CheckPath(name);

  const char* const path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::filesystem::path candidate =
        std::filesystem::path(directory.empty() ? "." : directory) / name;
    if (IsExecutableFile(candidate)) return candidate;
  }
  return UsageError(
      fmt::format("{}: not found in PATH; for a program in this directory write ./{}", name, name));
}

}  // namespace leakgate
