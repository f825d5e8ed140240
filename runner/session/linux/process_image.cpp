#include "runner/session/linux/process_image.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr int kMostInterpreters = 4;  // as the kernel: of scripts that interpret scripts

std::string Resolve(const std::string& path) {
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(path, error);
  return error ? path : resolved.string();
}

// "#! /bin/sh -e": "/bin/sh". Empty: it is no script.
std::string InterpreterOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char mark[2] = {};
  if (!file.read(mark, sizeof(mark)) || mark[0] != '#' || mark[1] != '!') return "";
  std::string line;
  std::getline(file, line);
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
  return line.substr(begin, end - begin);
}

}  // namespace

std::string ImageOf(int pid) {
  constexpr std::string_view kDeleted = " (deleted)";
  std::error_code error;
  std::string image = fs::read_symlink(fmt::format("/proc/{}/exe", pid), error).string();
  if (image.ends_with(kDeleted)) image.resize(image.size() - kDeleted.size());
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

bool HasArgument(int pid, std::string_view prefix) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  std::string argument;
  while (std::getline(file, argument, '\0')) {
    if (argument.starts_with(prefix)) return true;
  }
  return false;
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

}  // namespace leakgate
