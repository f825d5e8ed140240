// Reads the files of /proc about other processes and their threads.
//
// The kernel makes these files. They are regular files whose size is 0, and reading one fails if
// its process ends meanwhile (std::ifstream would throw then).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tl/expected.hpp>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

// Returns an error if there is no /proc.
[[nodiscard]] Expected<void> RequireProc();

// Reads a whole file. REQUIRES: `path` begins with /proc/, and no other user has chosen any part of
// it.
[[nodiscard]] tl::expected<std::string, std::error_code> ReadProcFile(const std::string& path);

// This is more than an exec can pass. A process may make the kernel return any part of its memory
// as its environment.
inline constexpr std::size_t kMostEnvironment = std::size_t{8} << 20;

// Reads /proc/PID/NAME up to `most_bytes`, and leaves out the rest. For files whose text the
// process itself can make as long as it likes (cmdline, environ). Empty if the process has ended.
[[nodiscard]] std::string ReadProcBegin(int pid, std::string_view name, std::size_t most_bytes);

// Reads /proc/PID/task/TID/NAME. Returns an empty text if the thread has ended.
[[nodiscard]] std::string ReadTaskFile(int pid, int tid, std::string_view name);

// Reads memory of the process: as much of the `bytes` at `address` as can be read.
[[nodiscard]] std::string ReadMemoryOf(int pid, std::uint64_t address, std::size_t bytes);

// The thread's name in the kernel; empty if the thread has ended.
[[nodiscard]] std::string NameOfThread(int pid, int tid);

// A field of /proc/PID/task/TID/status; empty if the thread has ended.
[[nodiscard]] std::string StatusField(int pid, int tid, std::string_view field);

// Returns the error which says that the process has ended.
[[nodiscard]] Unexpected EndedError(int pid);

// True if the thread has ended, even if its parent has not waited for it yet.
[[nodiscard]] bool HasDied(int pid, int tid);

// When the process was started, in the kernel's ticks since boot; 0 if it has ended. This
// distinguishes two processes that have had the same PID. It is field 22 of proc_pid_stat(5).
[[nodiscard]] std::uint64_t StartTimeOf(int pid);

// True if a signal has stopped the process. False if a debugger holds it stopped.
[[nodiscard]] bool IsStoppedBySignal(int pid);

// How long the thread has run on a processor so far; nullopt if the kernel does not say, or the
// thread has ended.
[[nodiscard]] std::optional<std::chrono::nanoseconds> TimeOnProcessor(int pid, int tid);

// True if the thread sleeps until some time has passed, and then continues by itself; also if the
// kernel does not say.
[[nodiscard]] bool SleepsForATime(int pid, int tid);

// The numbers of the process's threads; none if it has ended.
[[nodiscard]] std::vector<int> ListThreads(int pid);

// The PIDs of all processes.
[[nodiscard]] std::vector<int> ListProcesses();

// The PID that the process has for itself, which differs from `pid` if it runs in a container.
[[nodiscard]] int NamespacePid(int pid);

// The setting kernel.yama.ptrace_scope; 0 if the kernel does not have it. The usual value 1 permits
// a process to trace its descendants only.
[[nodiscard]] int YamaScope();

// Returns the number of the user whose process `pid` is; nothing if there is no such process.
[[nodiscard]] std::optional<unsigned> UserOfProcess(int pid);

// Returns the auxiliary vector of the process, which is pairs of a type and a value; empty if it
// cannot be read.
[[nodiscard]] std::vector<std::uint64_t> ReadAuxiliary(int pid);

// Returns the value of `type` in an auxiliary vector; nothing if it has no such entry.
[[nodiscard]] std::optional<std::uint64_t> AuxiliaryValue(std::span<const std::uint64_t> auxiliary,
                                                          std::uint64_t type);

// The open file descriptors and the threads of a process at one moment. Those that cannot be read
// are missing.
struct ProcessResources {
  std::map<int, std::string> file_descriptors;  // the target of each
  std::map<int, std::string> threads;           // the name of each, by tid
};

// The resources that a process has at one moment, and did not have at an earlier one.
struct ResourcesLeft {
  std::int64_t file_descriptors = 0;
  std::int64_t threads = 0;
  std::vector<std::string> names;  // "file descriptor 7: /tmp/db", "thread 'worker'"
};

[[nodiscard]] ProcessResources ReadResources(int pid);

// Returns the resources in `after` that are not in `before`. Pure.
[[nodiscard]] ResourcesLeft LeftBetween(const ProcessResources& before,
                                        const ProcessResources& after);

// A mapped range of a process's memory, from /proc/PID/maps.
struct MappedRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool is_readable = false;
  bool is_writable = false;
  bool is_executable = false;
  bool is_shared = false;
  std::uint64_t file_offset = 0;
  std::uint64_t inode = 0;  // 0: the range maps no file
  std::string name;         // the file's path, a name such as "[stack]", or empty

  bool IsAnonymous() const { return inode == 0; }
  bool Has(std::uint64_t address) const { return address >= begin && address < end; }

  friend bool operator==(const MappedRange&, const MappedRange&) = default;
};

// Parses the text of a maps file, which the kernel sorts by address. Skips malformed lines.
[[nodiscard]] std::vector<MappedRange> ParseMaps(std::string_view text);

// Returns the ranges sorted by address. Fails if the process has ended.
[[nodiscard]] Expected<std::vector<MappedRange>> ReadMaps(int pid);

// True if the process has ended or is just ending, since a process loses its memory before it ends.
// False if this process may not read the maps.
[[nodiscard]] bool HasNoMemory(int pid);

// Returns the range that contains `address`, or nullptr. REQUIRES: `ranges` are sorted by address.
[[nodiscard]] const MappedRange* FindRange(const std::vector<MappedRange>& ranges,
                                           std::uint64_t address);

}  // namespace leakgate
