// How this process gets the pages of its own heap.
#pragma once

namespace leakgate {

// Has the heap keep pages that were freed, and take new ones many at a time. A short run reads the
// same amount of memory several times: where each look returns its buffers to the kernel, most of
// its time goes into pages that are filled with zeros again. Called once, before any other thread
// is started.
void KeepFreedPages();

}  // namespace leakgate
