// Large pages for memory that is about to be filled for the first time. The kernel has to find and
// clear each page: of millions of records that is most of the time that reading them takes, and a
// large page is one step instead of 512.
#pragma once

#include <cstddef>

namespace leakgate {

// A hint, for whole large pages of [begin, begin + bytes) only. Does nothing to a small range, of
// which perhaps little will be filled.
void PreferLargePages(void* begin, std::size_t bytes);

}  // namespace leakgate
