// A test that creates 10,000 threads, one after the other. Each allocates a block and frees it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "timing.h"

namespace {

void AllocateOnce() {
  void* const block = std::malloc(64);
  bench::Use(block);
  std::free(block);
}

TEST(Threads, AreCreatedAndJoined) {
  for (int i = 0; i < 10'000; ++i) std::thread(AllocateOnce).join();
}

}  // namespace
