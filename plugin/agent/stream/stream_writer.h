// GoogleTest's own end of the stream (its SocketWriter, on the heap). After RUN_ALL_TESTS it
// closes its descriptor and forgets the number, and a program that runs its tests once more
// would be aborted by GoogleTest: "Send() can be called only when there is a connection".
// Without the stream it would not be. So the number, which means nothing to anybody else, is
// given back when the next RUN_ALL_TESTS begins.
//
// All on the thread that runs the tests.
#pragma once

namespace leakgate::agent {

// What each RUN_ALL_TESTS asks the environment for, first of all.
inline constexpr char kAskedAtTestProgramStart[] = "TEST_PREMATURE_EXIT_FILE";

// Finds the writer. REQUIRES: it is closing the stream: its address is on the stack, or in a
// register that calls preserve.
void RememberStreamWriter();

// Gives it the number back, if it is still there.
void ReopenStreamWriter();

}  // namespace leakgate::agent
