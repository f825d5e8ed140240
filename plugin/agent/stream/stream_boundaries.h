// Test boundaries of binaries without the listener, from GoogleTest's own stream of events
// (--gtest_stream_result_to).
//
// The agent acts as the server to which GoogleTest connects. No socket exists: GoogleTest's
// descriptor is a number that the kernel never gives out, so no test can come to own it.
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

// Returns whether to answer GoogleTest that it should stream its events here. This is so once, in a
// traced program whose boundaries come from the stream.
[[nodiscard]] bool WantsStream();

// Called when GoogleTest has connected: events will follow.
void OnStreamConnected();

// Handles what GoogleTest writes, which is one whole event.
void OnStreamWrite(std::string_view text);

// Returns whether the last event says that all tests have run. Resets that, because GoogleTest
// closes the stream once each time.
[[nodiscard]] bool StreamHasEnded();

}  // namespace leakgate::agent
