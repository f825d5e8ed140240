#include "runner/sessions/memory_limit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/command.h"

namespace leakgate {
namespace {

class GroupMemoryLimitTest : public testing::Test {
 protected:
  void Write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = directory_.File(file);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  std::uint64_t LimitOf(const std::string& groups) const {
    return GroupMemoryLimit(groups, directory_.path());
  }

  const test::TemporaryDirectory directory_;
};

TEST_F(GroupMemoryLimitTest, IsTheLeastOfTheGroupAndThoseAboveIt) {
  Write("system.slice/memory.max", "5000");
  Write("system.slice/web.service/memory.max", "max");
  EXPECT_EQ(LimitOf("0::/system.slice/web.service\n"), 5000U);
  Write("system.slice/web.service/memory.max", "4000");
  EXPECT_EQ(LimitOf("0::/system.slice/web.service\n"), 4000U);
}

TEST_F(GroupMemoryLimitTest, IsFoundInTheFirstVersionOfGroupsToo) {
  Write("memory/docker/1/memory.limit_in_bytes", "7000");
  EXPECT_EQ(LimitOf("9:name=systemd:/\n4:cpu,memory:/docker/1\n0::/\n"), 7000U);
}

// In a container the kernel may tell a path that is not mounted there.
TEST_F(GroupMemoryLimitTest, IsThatOfTheMountWhereThePathIsNotThere) {
  Write("memory.max", "9000");
  EXPECT_EQ(LimitOf("0::/docker/1\n"), 9000U);
}

TEST_F(GroupMemoryLimitTest, IsNoneWhereNothingIsSet) {
  EXPECT_EQ(LimitOf(""), UINT64_MAX);
  EXPECT_EQ(LimitOf("no group\n0::/\n"), UINT64_MAX);
}

TEST(MemoryLimitTest, IsNeverMoreThanTheMachineHas) {
  EXPECT_GT(MemoryLimit(), 0U);
  EXPECT_LT(MemoryLimit(), UINT64_MAX);
}

}  // namespace
}  // namespace leakgate
