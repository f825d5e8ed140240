// The first messages between a process that carries the agent and the runner.
//
// On its first allocation the agent connects to the runner's abstract socket (SOCK_SEQPACKET),
// whose random name is in the environment, sends a Hello and waits for the Answer. With kTrace, the
// Answer carries the region's descriptor. The socket is closed at once. From then on the two
// communicate through the region alone, so a test that closes every descriptor, or changes root,
// does no harm.
//
// With kNotifyExecs in the Answer, whether the process is traced or not, it reports each program
// that it is about to execute: it sends an ExecNotice on a connection of its own, and expects no
// answer.
//
// With kTraceForks, each forked child asks for a region of its own, once it allocates or runs tests
// (plugin/agent/start/forked_child.cpp).
//
// Each end checks the other's credentials (SO_PEERCRED). A region is given to the PID that the
// kernel reports, never to one that was sent.
#pragma once

#include <cstdint>

namespace leakgate {

// The abstract socket's name, without its leading NUL.
inline constexpr char kControlVariable[] = "LEAKGATE_CONTROL";

// The name begins with this, the runner's PID, '-', and its start time (field 22 of
// proc_pid_stat(5)). The runner holds the name while it lives. So if nobody accepts under a name,
// the agent knows whether it belongs to a busy runner, or to another process after the runner has
// ended.
inline constexpr char kControlPrefix[] = "leakgate-";

inline constexpr std::uint32_t kControlMagic = 0x6b67'6c31;
inline constexpr std::uint32_t kExecMagic = 0x6b67'6c32;

// How a process that sends a Hello has begun.
enum class HelloFrom : std::uint32_t {
  kProgram = 0,  // it executed a program, or tracing is being enabled in it
  kForked = 1,   // it was forked by a process that is traced, and has executed nothing
};

struct Hello {
  std::uint32_t magic;
  std::uint32_t layout_version;
  std::uint32_t from;    // HelloFrom
  std::uint32_t window;  // of the program under test, in which it was forked
};
static_assert(sizeof(Hello) == 16);

enum class ControlAction : std::uint32_t { kStayOff = 0, kTrace = 1 };

// What else the runner asks of a process: bits of Answer::wants.
inline constexpr std::uint32_t kNotifyExecs = 1;
inline constexpr std::uint32_t kTraceForks = 2;

struct Answer {
  std::uint32_t magic;
  std::uint32_t action;  // ControlAction
  std::uint32_t wants;   // bits
  std::uint32_t window;  // of the program under test, in which the process was started
};
static_assert(sizeof(Answer) == 16);

enum class ExecEvent : std::uint32_t {
  kStarts = 1,  // it is about to execute; a child of posix_spawn has already executed
  kFailed = 2,  // it has not executed after all
};

struct ExecNotice {
  static constexpr std::uint32_t kPathCapacity = 4096;

  std::uint32_t magic;  // kExecMagic
  std::uint32_t event;  // ExecEvent
  std::int32_t pid;     // of the process that executes; 0 for the sender
  std::uint32_t window;
  std::uint32_t leaves_agent;  // 1 if the new program's environment does not preload the agent
  std::uint32_t path_length;   // bytes of `path` that are sent
  char path[kPathCapacity];    // of the file, absolute
};
static_assert(sizeof(ExecNotice) == 24 + ExecNotice::kPathCapacity);

// The host to which the agent makes GoogleTest stream its events, through the answer to getenv. No
// such host exists: the agent itself acts as the host (plugin/agent/stream/stream_boundaries.h).
inline constexpr char kStreamHost[] = "leakgate.invalid";
inline constexpr char kStreamTarget[] = "leakgate.invalid:1";
inline constexpr char kStreamVariable[] = "GTEST_STREAM_RESULT_TO";

}  // namespace leakgate
