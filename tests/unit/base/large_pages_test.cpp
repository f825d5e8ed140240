#include "runner/base/large_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace leakgate {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Whether the kernel was asked for large pages where `address` is: the flag "hg" in smaps.
bool PrefersLargePages(const void* address) {
  std::ifstream smaps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  bool is_there = false;
  for (std::string line; std::getline(smaps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      is_there = wanted >= begin && wanted < end;
    } else if (is_there && line.starts_with("VmFlags:")) {
      return (line + ' ').find(" hg ") != std::string::npos;
    }
  }
  return false;
}

class LargePagesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) {
      GTEST_SKIP() << "this kernel has no transparent large pages";
    }
    memory_ = static_cast<char*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory_, MAP_FAILED);
  }
  void TearDown() override { munmap(memory_, kBytes); }

  static constexpr std::size_t kBytes = 64 * kMiB;
  char* memory_ = nullptr;
};

TEST_F(LargePagesTest, ArePreferredWithinALargeRangeOnly) {
  PreferLargePages(memory_ + 5 * kMiB, 32 * kMiB);
  EXPECT_TRUE(PrefersLargePages(memory_ + 20 * kMiB));
  EXPECT_FALSE(PrefersLargePages(memory_ + 4 * kMiB));
  EXPECT_FALSE(PrefersLargePages(memory_ + 38 * kMiB));
}

TEST_F(LargePagesTest, AreNotForASmallRange) {
  PreferLargePages(memory_, 8 * kMiB);
  EXPECT_FALSE(PrefersLargePages(memory_ + 4 * kMiB));
}

}  // namespace
}  // namespace leakgate
