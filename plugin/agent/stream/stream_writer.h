// GoogleTest's own end of the stream: its SocketWriter, which is on the heap.
//
// After RUN_ALL_TESTS the writer closes its descriptor and forgets the number. If an EXPECT fails
// after that, or the program runs its tests once more, GoogleTest aborts it: "Send() can be called
// only when there is a connection". Without the stream it would not. So the number, which means
// nothing to anybody else, is given back to the writer at the next allocation that any thread makes
// once the writer has forgotten it: no expectation fails without one.
#pragma once

namespace leakgate::agent {

// Finds the writer, and has the number given back to it, in a fork child, too. Called on the thread
// that runs the tests. Returns false if the writer is not found. REQUIRES: the writer is closing
// the stream at the tests' end, so that its address is on the stack, or in a register that calls
// preserve.
[[nodiscard]] bool KeepStreamOpen();

}  // namespace leakgate::agent
