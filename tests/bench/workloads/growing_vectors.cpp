// Arrays that grow by realloc, several at a time, so that some move. All are
// small enough for the C library to keep what they leave: what is measured is
// no page fault.
//
// growing_vectors BUDGET_MS
#include "timing.h"

namespace {

constexpr std::uint64_t kVectors = 8;
constexpr std::uint64_t kLargest = 1 << 12;

std::uint64_t Batch() {
  void* vectors[kVectors] = {};
  std::uint64_t operations = 0;
  for (std::uint64_t bytes = 16; bytes <= kLargest; bytes += bytes / 2) {
    for (void*& vector : vectors) {
      vector = std::realloc(vector, bytes);
      bench::Use(vector);
      ++operations;
    }
  }
  for (void* vector : vectors) std::free(vector);
  return operations;
}

}  // namespace

int main(int argc, char** argv) { bench::Measure(bench::Argument(argc, argv, 1), Batch); }
