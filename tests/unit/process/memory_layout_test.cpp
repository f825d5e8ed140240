#include <gmock/gmock.h>

#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(MemoryLayoutTest, ReadsEachLine) {
  const auto ranges = ParseMaps(
      "55d0c0000000-55d0c0001000 r--p 00000000 fe:01 1234                       /usr/bin/a b\n"
      "7f00a0000000-7f00a0021000 rw-p 00000000 00:00 0 \n"
      "7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]\n");
  EXPECT_THAT(ranges, ElementsAre(MappedRange{.begin = 0x55d0c0000000,
                                              .end = 0x55d0c0001000,
                                              .is_readable = true,
                                              .is_writable = false,
                                              .file_offset = 0,
                                              .inode = 1234,
                                              .name = "/usr/bin/a b"},
                                  MappedRange{.begin = 0x7f00a0000000,
                                              .end = 0x7f00a0021000,
                                              .is_readable = true,
                                              .is_writable = true,
                                              .name = ""},
                                  MappedRange{.begin = 0x7ffd00000000,
                                              .end = 0x7ffd00021000,
                                              .is_readable = true,
                                              .is_writable = true,
                                              .name = "[stack]"}));
}

TEST(MemoryLayoutTest, TellsWhatIsShared) {
  const auto ranges = ParseMaps("1000-2000 rw-p 0 0:0 1 /a\n3000-4000 rw-s 0 0:0 1 /a\n");
  EXPECT_FALSE(ranges[0].is_shared);
  EXPECT_TRUE(ranges[1].is_shared);
}

TEST(MemoryLayoutTest, LeavesOutWhatIsNoLine) {
  EXPECT_THAT(ParseMaps("no map\n\n1000-zz rw-p 0 0:0 0\n2000-1000 rw-p 0 0:0 0\n"), IsEmpty());
}

TEST(MemoryLayoutTest, FindsTheRangeOfAnAddress) {
  const auto ranges = ParseMaps("1000-2000 rw-p 0 0:0 0\n3000-4000 rw-p 0 0:0 0\n");
  EXPECT_EQ(FindRange(ranges, 0xFFF), nullptr);
  EXPECT_EQ(FindRange(ranges, 0x1FFF), &ranges[0]);
  EXPECT_EQ(FindRange(ranges, 0x2000), nullptr);
  EXPECT_EQ(FindRange(ranges, 0x3000), &ranges[1]);
}

}  // namespace
}  // namespace leakgate
