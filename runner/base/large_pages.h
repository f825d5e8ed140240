// Large pages for memory that is about to be filled for the first time. The kernel must find and
// clear each page: for millions of records, this takes most of the time of reading them. A large
// page is one step instead of 512.
#pragma once

#include <cstddef>

namespace leakgate {

// Gives the kernel a hint for the whole large pages of [begin, begin + bytes). Does nothing for a
// small range, of which perhaps little will be filled.
void PreferLargePages(void* begin, std::size_t bytes);

}  // namespace leakgate
