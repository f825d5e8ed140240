// Files of /proc, which are the kernel's: they are regular ones that say size 0, and their
// processes may go while they are read, which is an error of reading. (The standard library's
// stream buffers throw then.)
#pragma once

#include <fcntl.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tl/expected.hpp>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

// REQUIRES: `path` begins with /proc/, and nobody else has named any part of it.
[[nodiscard]] tl::expected<std::string, std::error_code> ReadProcFile(const std::string& path);

// /proc/PID/NAME, which stays open. None: errno says why.
[[nodiscard]] UniqueFd OpenProcFile(int pid, std::string_view name, int access = O_RDONLY);

// What /proc tells of another process and its threads.

// /proc/PID/task/TID/NAME; empty if the thread has gone.
[[nodiscard]] std::string ReadTaskFile(int pid, int tid, std::string_view name);

// What the kernel calls a thread that is there; empty if it has gone.
[[nodiscard]] std::string NameOfThread(int pid, int tid);

// A field of /proc/PID/task/TID/status; empty if the thread has gone.
[[nodiscard]] std::string StatusField(int pid, int tid, std::string_view field);

// What there is to say of a process that has gone.
[[nodiscard]] Unexpected EndedError(int pid);

// It has ended, though it may not have been collected yet.
[[nodiscard]] bool HasDied(int pid, int tid);

// When it was started, in the kernel's ticks since boot: two processes that have had the same
// PID differ in it. 0 if it has gone. By field 22 of proc_pid_stat(5).
[[nodiscard]] std::uint64_t StartTimeOf(int pid);

// A signal has stopped it, and no debugger holds it.
[[nodiscard]] bool IsStoppedBySignal(int pid);

// How long a thread has had a processor so far; nothing where the kernel does not tell, or
// the thread has gone.
[[nodiscard]] std::optional<std::chrono::nanoseconds> TimeOnProcessor(int pid, int tid);

// The threads of `pid`, by number; none if it has gone.
[[nodiscard]] std::vector<int> TasksOf(int pid);

// The number by which `pid` knows itself: in a container, another.
[[nodiscard]] int NamespacePid(int pid);

// kernel.yama.ptrace_scope. 1, the usual, allows descendants. 0 where the kernel has no
// such setting.
[[nodiscard]] int YamaScope();

}  // namespace leakgate
