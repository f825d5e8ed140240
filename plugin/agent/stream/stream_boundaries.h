// Test boundaries of untouched binaries, from GoogleTest's own stream of
// events (--gtest_stream_result_to). The agent is the server that GoogleTest
// connects to: no socket exists, and the descriptor it is given is a number
// that the kernel never hands out, so no test can come to own it.
//
// Events are lines such as "event=TestStart&name=KeepAlive", one a write, on the
// thread that runs the tests. Names are not escaped.
#pragma once

#include <cstdint>
#include <string_view>

namespace leakgate::agent {

// Above the kernel's largest descriptor (sysctl fs.nr_open's limit).
inline constexpr int kStreamDescriptor = 0x7FFF'FFC7;
// No address family of the kernel's.
inline constexpr int kStreamFamily = 0x6C67;

// True if GoogleTest is to be told, when it asks, to stream its events here: once,
// in a traced program whose boundaries come from the stream.
[[nodiscard]] bool WantsStream();

// GoogleTest has connected: events are going to come.
void OnStreamConnected();

// Takes what GoogleTest writes: one whole event.
void OnStreamWrite(std::string_view text);

}  // namespace leakgate::agent
