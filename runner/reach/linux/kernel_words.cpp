#include "runner/reach/linux/kernel_words.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <optional>

#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

std::string_view NextLineOf(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::optional<std::uint64_t> HexadecimalAfter(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + name.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (line.starts_with("0x")) line.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

// The numbers of the epoll descriptors.
std::vector<std::string> EpollDescriptors(int pid) {
  std::vector<std::string> numbers;
  std::error_code error;
  std::filesystem::directory_iterator entries(fmt::format("/proc/{}/fd", pid), error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    std::error_code unreadable;
    const std::string target = std::filesystem::read_symlink(entries->path(), unreadable).string();
    if (target == "anon_inode:[eventpoll]") numbers.push_back(entries->path().filename().string());
  }
  return numbers;
}

}  // namespace

std::vector<std::uint64_t> ParseEpollWords(std::string_view fdinfo) {
  std::vector<std::uint64_t> words;
  while (!fdinfo.empty()) {
    const std::string_view line = NextLineOf(fdinfo);
    if (!line.starts_with("tfd:")) continue;
    if (const auto word = HexadecimalAfter(line, " data:")) words.push_back(*word);
  }
  return words;
}

std::vector<KernelObject> ParseTimers(std::string_view timers) {
  std::vector<KernelObject> found;
  while (!timers.empty()) {
    const std::string_view line = NextLineOf(timers);
    if (line.starts_with("ID: ")) {
      found.push_back({fmt::format("timer {}", line.substr(4)), {}});
    } else if (line.starts_with("signal: ") && !found.empty()) {
      if (const auto word = HexadecimalAfter(line, "/")) found.back().words.push_back(*word);
    }
  }
  return found;
}

std::vector<KernelObject> FindKernelWords(int pid) {
  std::vector<KernelObject> objects;
  for (const std::string& descriptor : EpollDescriptors(pid)) {
    const auto text = ReadProcFile(fmt::format("/proc/{}/fdinfo/{}", pid, descriptor));
    if (!text) continue;
    objects.push_back({"epoll descriptor " + descriptor, ParseEpollWords(*text)});
  }
  if (const auto text = ReadProcFile(fmt::format("/proc/{}/timers", pid))) {
    for (KernelObject& timer : ParseTimers(*text)) objects.push_back(std::move(timer));
  }
  return objects;
}

}  // namespace leakgate
