// Ctrl-C, Ctrl-Break, and the closing of the console. What base/signal_end.h does at a signal, it
// does at these, unless somebody takes them first: while a program runs, they are the program's,
// too (run/nt/program_watch.cpp).
#pragma once

namespace leakgate {

// Called on a thread of the system's for each event (CTRL_C_EVENT and so on). Returns whether the
// event is dealt with.
using ConsoleEventTaker = bool (*)(unsigned long event);

// Null: nobody takes them.
void TakeConsoleEvents(ConsoleEventTaker taker);

}  // namespace leakgate
