// For fixtures that call functions of POSIX or GNU which Windows does not have: each by what
// Windows has instead. They are macros, so that the line that calls is the fixture's.
#pragma once
#include_next <malloc.h>

#include <cstdlib>

namespace std {
using ::_aligned_malloc;
}  // namespace std

#define aligned_alloc(alignment, bytes) _aligned_malloc(bytes, alignment)
#define memalign(alignment, bytes) _aligned_malloc(bytes, alignment)
#define posix_memalign(block, alignment, bytes) \
  ((*(block) = _aligned_malloc(bytes, alignment)) == nullptr)
// What these return is freed by std::free, so it is no block of _aligned_malloc's.
#define reallocarray(block, count, bytes) std::realloc(block, (count) * (bytes))
#define valloc(bytes) std::malloc(bytes)
#define asprintf(text, ...)                                                               \
  (*(text) = static_cast<char*>(std::malloc(std::snprintf(nullptr, 0, __VA_ARGS__) + 1)), \
   std::sprintf(*(text), __VA_ARGS__))
