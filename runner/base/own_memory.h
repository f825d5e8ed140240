// How this process obtains the pages of its own heap and stacks.
#pragma once

namespace leakgate {

// Makes the heap keep pages that were freed, and take new ones many at a time. A short run reads
// the same amount of memory several times. If each scan returned its buffers to the kernel, most of
// its time would go into pages that are filled with zeros again. Must be called once, before any
// other thread is started.
void KeepFreedPages();

// Gives new threads at least 4 MiB of stack. Otherwise they have the main thread's limit (ulimit
// -s), which may be too little to judge or to symbolise anything. Must be called once, before any
// other thread is started.
void RaiseThreadStackSize();

}  // namespace leakgate
