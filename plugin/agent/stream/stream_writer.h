// GoogleTest's own side of the stream: its SocketWriter, which is on the heap.
//
// After RUN_ALL_TESTS the writer closes its descriptor and forgets the number. If an EXPECT fails
// after that, or the program runs its tests once more, GoogleTest aborts the program: "Send() can
// be called only when there is a connection". Without the stream it would not. So the number, which
// has no other meaning, is restored in the writer at the next allocation that any thread makes
// after the writer has forgotten it: no expectation fails without an allocation.
#pragma once

namespace leakgate::agent {

// Finds the writer, and makes its number be restored, in a fork child, too. Called on the thread
// that runs the tests. Returns false if the writer is not found. REQUIRES: the writer is closing
// the stream at the tests' end, so that its address is on the stack, or in a register that calls
// preserve.
[[nodiscard]] bool KeepStreamOpen();

}  // namespace leakgate::agent
