#include "runner/process/proc_files.h"

#include <dirent.h>
#include <elf.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>

#include "runner/base/linux/proc_place.h"
#include "runner/base/regular_file.h"
#include "runner/process/linux/open_proc_file.h"

namespace leakgate {
namespace {

// Removes the front of `text` up to and including `separator`, and returns it without that.
std::string_view TakeUntil(std::string_view& text, char separator) {
  const std::size_t at = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

std::optional<std::uint64_t> Number(std::string_view digits, int base) {
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// Calls `use` for each entry whose name is a number.
template <typename Use>
void ForEachNumber(const std::string& directory, Use use) {
  UniqueFd fd = OpenPlaceOf(directory, O_RDONLY | O_DIRECTORY);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fd ? ::fdopendir(fd.get()) : nullptr,
                                                    &::closedir);
  if (!entries) return;
  (void)fd.Release();
  while (const dirent* const entry = ::readdir(entries.get())) {
    if (const auto number = Number(entry->d_name, 10)) use(static_cast<int>(*number));
  }
}

// Parses a line such as "7f00-7f80 rw-p 00001000 fe:01 1234    /usr/lib/libc.so.6".
std::optional<MappedRange> ParseLine(std::string_view line) {
  const auto begin = Number(TakeUntil(line, '-'), 16);
  const auto end = Number(TakeUntil(line, ' '), 16);
  const std::string_view access = TakeUntil(line, ' ');
  const auto offset = Number(TakeUntil(line, ' '), 16);
  TakeUntil(line, ' ');  // the device
  const auto inode = Number(TakeUntil(line, ' '), 10);
  if (!begin || !end || *begin >= *end || access.size() != 4 || !offset || !inode) {
    return std::nullopt;
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return MappedRange{.begin = *begin,
                     .end = *end,
                     .is_readable = access[0] == 'r',
                     .is_writable = access[1] == 'w',
                     .is_executable = access[2] == 'x',
                     .is_shared = access[3] == 's',
                     .file_offset = *offset,
                     .inode = *inode,
                     .name = std::string(line)};
}

}  // namespace

Expected<void> RequireProc() {
  if (StatPlaceOf("/proc/self/status")) return {};
  return InconclusiveError(
      "/proc is not mounted, where leakgate finds its agent and what processes do; mount it: "
      "mount -t proc proc /proc");
}

tl::expected<std::string, std::error_code> ReadProcFile(const std::string& path) {
  const UniqueFd file = OpenPlaceOf(path, O_RDONLY);
  if (!file) return tl::unexpected(LastErrorCode());
  return ReadToEnd(file, std::numeric_limits<std::uint64_t>::max());
}

std::string ReadProcBegin(int pid, std::string_view name, std::size_t most_bytes) {
  constexpr std::size_t kPart = 16384;
  const UniqueFd file = OpenProcFile(pid, name);
  std::string text;
  while (file && text.size() < most_bytes) {
    const std::size_t had = text.size();
    text.resize(std::min(had + kPart, most_bytes));
    const ssize_t count = ::read(file.get(), text.data() + had, text.size() - had);
    text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count <= 0) break;
  }
  return text;
}

UniqueFd OpenProcFile(int pid, std::string_view name, int access) {
  return OpenPlaceOf(fmt::format("/proc/{}/{}", pid, name), access);
}

std::string ReadTaskFile(int pid, int tid, std::string_view name) {
  return ReadProcFile(fmt::format("/proc/{}/task/{}/{}", pid, tid, name)).value_or("");
}

std::string ReadMemoryOf(int pid, std::uint64_t address, std::size_t bytes) {
  std::string read(bytes, '\0');
  iovec local{read.data(), bytes};
  iovec remote{reinterpret_cast<void*>(address), bytes};
  const ssize_t count = ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
  read.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return read;
}

std::string NameOfThread(int pid, int tid) {
  const std::string name = ReadTaskFile(pid, tid, "comm");
  return name.substr(0, name.find('\n'));
}

std::string StatusField(int pid, int tid, std::string_view field) {
  std::istringstream file(ReadTaskFile(pid, tid, "status"));
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(field) || line.size() <= field.size() || line[field.size()] != ':') {
      continue;
    }
    const std::size_t begin = line.find_first_not_of(" \t", field.size() + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return {};
}

Unexpected EndedError(int pid) { return InconclusiveError(fmt::format("PID {} has ended", pid)); }

bool HasDied(int pid, int tid) {
  const std::string state = StatusField(pid, tid, "State");
  return state.empty() || state.front() == 'Z' || state.front() == 'X';
}

std::uint64_t StartTimeOf(int pid) {
  const std::string stat = ReadProcFile(fmt::format("/proc/{}/stat", pid)).value_or("");
  // Field 2, the program's name in parentheses, may contain any characters. So the fields are
  // counted from its end.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  std::uint64_t ticks = 0;
  fields >> ticks;
  return ticks;
}

bool IsStoppedBySignal(int pid) { return StatusField(pid, pid, "State").starts_with('T'); }

std::optional<std::chrono::nanoseconds> TimeOnProcessor(int pid, int tid) {
  std::int64_t nanoseconds = 0;
  std::istringstream file(ReadTaskFile(pid, tid, "schedstat"));
  if (!(file >> nanoseconds)) return std::nullopt;
  return std::chrono::nanoseconds(nanoseconds);
}

// The first field of the file is the number of the system call that the thread is in.
bool SleepsForATime(int pid, int tid) {
  const std::string call = ReadTaskFile(pid, tid, "syscall");
  if (call.empty()) return true;
  const int number = std::atoi(call.c_str());
  return number == SYS_nanosleep || number == SYS_clock_nanosleep;
}

std::vector<int> ListThreads(int pid) {
  std::vector<int> tids;
  ForEachNumber(fmt::format("/proc/{}/task", pid), [&](int tid) { tids.push_back(tid); });
  return tids;
}

std::vector<int> ListProcesses() {
  std::vector<int> pids;
  ForEachNumber("/proc", [&](int pid) { pids.push_back(pid); });
  return pids;
}

int NamespacePid(int pid) {
  std::istringstream numbers(StatusField(pid, pid, "NSpid"));  // the outermost namespace is first
  int innermost = pid;
  for (int number = 0; numbers >> number;) innermost = number;
  return innermost;
}

int YamaScope() {
  return std::atoi(ReadProcFile("/proc/sys/kernel/yama/ptrace_scope").value_or("").c_str());
}

std::optional<unsigned> UserOfProcess(int pid) {
  const std::optional<struct stat> facts = StatPlaceOf(fmt::format("/proc/{}", pid));
  if (!facts) return std::nullopt;
  return facts->st_uid;
}

std::vector<std::uint64_t> ReadAuxiliary(int pid) {
  const std::string bytes = ReadProcFile(fmt::format("/proc/{}/auxv", pid)).value_or("");
  std::vector<std::uint64_t> words(bytes.size() / sizeof(std::uint64_t));
  std::copy_n(bytes.data(), words.size() * sizeof(words[0]), reinterpret_cast<char*>(words.data()));
  return words;
}

std::optional<std::uint64_t> AuxiliaryValue(std::span<const std::uint64_t> auxiliary,
                                            std::uint64_t type) {
  for (std::size_t at = 0; at + 1 < auxiliary.size() && auxiliary[at] != AT_NULL; at += 2) {
    if (auxiliary[at] == type) return auxiliary[at + 1];
  }
  return std::nullopt;
}

ProcessResources ReadResources(int pid) {
  ProcessResources resources;
  ForEachNumber(fmt::format("/proc/{}/fd", pid), [&](int fd) {
    resources.file_descriptors[fd] = ReadLinkOf(fmt::format("/proc/{}/fd/{}", pid, fd));
  });
  ForEachNumber(fmt::format("/proc/{}/task", pid),
                [&](int tid) { resources.threads[tid] = NameOfThread(pid, tid); });
  return resources;
}

std::vector<MappedRange> ParseMaps(std::string_view text) {
  std::vector<MappedRange> ranges;
  while (!text.empty()) {
    std::optional<MappedRange> range = ParseLine(TakeUntil(text, '\n'));
    if (range) ranges.push_back(*std::move(range));
  }
  return ranges;
}

Expected<std::vector<MappedRange>> ReadMaps(int pid) {
  const auto text = ReadProcFile(fmt::format("/proc/{}/maps", pid));
  std::vector<MappedRange> ranges = ParseMaps(text.value_or(""));
  if (ranges.empty()) {
    return InconclusiveError(fmt::format("cannot read /proc/{}/maps: the process has gone", pid));
  }
  return ranges;
}

bool HasNoMemory(int pid) {
  const auto text = ReadProcFile(fmt::format("/proc/{}/maps", pid));
  if (text) return text->empty();
  return text.error() == std::errc::no_such_process ||
         text.error() == std::errc::no_such_file_or_directory;
}

}  // namespace leakgate
