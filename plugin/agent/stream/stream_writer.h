// GoogleTest's own end of the stream: its SocketWriter, which is on the heap.
//
// After RUN_ALL_TESTS the writer closes its descriptor and forgets the number. If the program runs
// its tests once more, GoogleTest aborts it: "Send() can be called only when there is a
// connection". Without the stream it would not. So the number, which means nothing to anybody else,
// is given back to the writer when the next RUN_ALL_TESTS begins.
//
// All of this is called on the thread that runs the tests.
#pragma once

namespace leakgate::agent {

// The variable that each RUN_ALL_TESTS asks the environment for, before anything else.
inline constexpr char kAskedAtTestProgramStart[] = "TEST_PREMATURE_EXIT_FILE";

// Finds the writer. REQUIRES: it is closing the stream, so that its address is on the stack, or in
// a register that calls preserve.
void RememberStreamWriter();

// Gives the number back to the writer, if that is still there.
void ReopenStreamWriter();

}  // namespace leakgate::agent
