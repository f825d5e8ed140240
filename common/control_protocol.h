// The first words between a process that carries the agent and the runner.
//
// On its first allocation the agent connects to the runner's abstract socket
// (SOCK_SEQPACKET), whose random name is in the environment, sends a Hello and
// waits for the Answer. With kTrace comes the region's descriptor. The socket
// is closed at once: from then on the two meet in the region alone, so a test
// that closes every descriptor, or changes root, does no harm.
//
// Each end checks the other's credentials (SO_PEERCRED). The PID that counts is
// the one the kernel gives, never one that is sent.
#pragma once

#include <cstdint>

namespace leakgate {

// The abstract socket's name, without its leading NUL.
inline constexpr char kControlVariable[] = "LEAKGATE_CONTROL";

inline constexpr std::uint32_t kControlMagic = 0x6b67'6c31;

struct Hello {
  std::uint32_t magic;
  std::uint32_t layout_version;
};
static_assert(sizeof(Hello) == 8);

enum class ControlAction : std::uint32_t { kStayOff = 0, kTrace = 1 };

struct Answer {
  std::uint32_t magic;
  std::uint32_t action;  // ControlAction
};
static_assert(sizeof(Answer) == 8);

// Where the agent has GoogleTest stream its events, by the answer to getenv: a
// host that is none, and that the agent is itself (plugin/agent/stream_boundaries.h).
inline constexpr char kStreamHost[] = "leakgate.invalid";
inline constexpr char kStreamTarget[] = "leakgate.invalid:1";
inline constexpr char kStreamVariable[] = "GTEST_STREAM_RESULT_TO";

}  // namespace leakgate
