// Test boundaries of binaries without the listener, from GoogleTest's own stream of events
// (--gtest_stream_result_to).
//
// The agent is the server that GoogleTest connects to. No socket exists: the descriptor that
// GoogleTest is given is a number that the kernel never hands out, so no test can come to own it.
//
// Events are lines such as "event=TestStart&name=KeepAlive". Each is one write, on the thread that
// runs the tests. Names are not escaped.
#pragma once

#include <cstdint>
#include <string_view>

namespace leakgate::agent {

// It is above the kernel's largest descriptor (the limit of sysctl fs.nr_open).
inline constexpr int kStreamDescriptor = 0x7FFF'FFC7;
// The kernel has no such address family.
inline constexpr int kStreamFamily = 0x6C67;

// Whether GoogleTest is to be told, when it asks, to stream its events here. That is so once, in a
// traced program whose boundaries come from the stream.
[[nodiscard]] bool WantsStream();

// Called when GoogleTest has connected: events are going to come.
void OnStreamConnected();

// Takes what GoogleTest writes, which is one whole event.
void OnStreamWrite(std::string_view text);

// Whether the event that was written last tells that all tests have run. Forgets it: GoogleTest
// closes the stream once for each.
[[nodiscard]] bool StreamHasEnded();

}  // namespace leakgate::agent
