// How this process gets the pages of its own heap and stacks.
#pragma once

namespace leakgate {

// Has the heap keep pages that were freed, and take new ones many at a time. A short run reads the
// same amount of memory several times: where each look returns its buffers to the kernel, most of
// its time goes into pages that are filled with zeros again. Called once, before any other thread
// is started.
void KeepFreedPages();

// Gives new threads at least 4 MiB of stack. Else they have as much as the limit on the main
// thread's says (ulimit -s), which may be too little to judge or to symbolise anything. Called
// once, likewise.
void RaiseThreadStackSize();

}  // namespace leakgate
