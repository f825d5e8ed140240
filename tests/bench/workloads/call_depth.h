// Calls something at a given depth: that many functions of their own, none of
// them inlined, with frames of several sizes and no frame pointers.
#pragma once

#include "timing.h"

namespace bench {

template <std::uint64_t kDepth, typename Work>
[[gnu::noinline]] void CallAtDepth(Work& work) {
  char frame[16 + 16 * (kDepth % 5)];
  Use(frame);
  if constexpr (kDepth == 1) {
    work();
  } else {
    CallAtDepth<kDepth - 1>(work);
  }
  Use(frame);  // after the call: it is no tail call
}

template <typename Work>
void CallAtDepth(std::uint64_t depth, Work work) {
  switch (depth) {
    case 10:
      return CallAtDepth<10>(work);
    case 40:
      return CallAtDepth<40>(work);
    case 100:
      return CallAtDepth<100>(work);
    default:
      std::fprintf(stderr, "no such depth\n");
      std::exit(2);
  }
}

}  // namespace bench
