// Unwind tables of damaged files: what they say is not followed out of what is mapped.
#include "plugin/agent/unwind/elf/frame_description.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace leakgate::agent {
namespace {

const auto kPageBytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
constexpr std::uint64_t kPcOffset = 0x40;  // from the header

// A page with a header of one entry, between two that nobody may read.
class DamagedFrameTest : public testing::TestWithParam<std::int32_t> {
 protected:
  DamagedFrameTest()
      : pages_(static_cast<std::uint8_t*>(
            ::mmap(nullptr, 3 * kPageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    ::mprotect(page(), kPageBytes, PROT_READ | PROT_WRITE);
  }
  ~DamagedFrameTest() override { ::munmap(pages_, 3 * kPageBytes); }

  std::uint8_t* page() const { return pages_ + kPageBytes; }

  void Put(std::size_t at, std::int32_t word) { std::memcpy(page() + at, &word, sizeof word); }

  // The entry's description is `at` bytes from the header.
  DescriptionStatus FindBy(std::int32_t at) {
    const std::array<std::uint8_t, 4> begin = {1, 0x1B, 0x03, 0x3B};
    std::memcpy(page(), begin.data(), begin.size());
    Put(4, 0);  // where .eh_frame is: of no use here
    Put(8, 1);  // entries
    Put(12, 0);
    Put(16, at);
    FrameDescription found;
    return FindFrameDescription({page(), page(), page() + kPageBytes},
                                reinterpret_cast<std::uint64_t>(page()) + kPcOffset, found);
  }

 private:
  std::uint8_t* const pages_;
};

TEST_P(DamagedFrameTest, IsNotFollowedToAFarDescription) {
  EXPECT_EQ(FindBy(GetParam()), DescriptionStatus::kMalformed);
}

TEST_P(DamagedFrameTest, IsNotFollowedToAFarCommonEntry) {
  Put(0x80, 0x20);        // the description's length
  Put(0x84, GetParam());  // how far in front of here the common entry is
  EXPECT_EQ(FindBy(0x80), DescriptionStatus::kMalformed);
}

INSTANTIATE_TEST_SUITE_P(, DamagedFrameTest,
                         testing::Values(INT32_MIN, INT32_MIN + 1, -5000, -1, 4095, 4096, 5000,
                                         INT32_MAX));

}  // namespace
}  // namespace leakgate::agent
