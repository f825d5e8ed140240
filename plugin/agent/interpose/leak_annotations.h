// What a program that is annotated for LeakSanitizer defines, and the tool calls.
#pragma once

namespace leakgate::agent {

// Notes what the program's __lsan_default_suppressions returns, if it exports that function: it is
// called once, on the main thread. REQUIRES: main is about to be called.
void TakeDefaultSuppressions();

}  // namespace leakgate::agent
