#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/regular_file.h"
#include "tests/support/command.h"

namespace leakgate {
namespace {

std::vector<gid_t> Groups() {
  std::vector<gid_t> groups(64);
  groups.resize(static_cast<std::size_t>(::getgroups(64, groups.data())));
  return groups;
}

class FileRightsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root has others' rights";
    std::ofstream(file_) << "secret";
    std::filesystem::permissions(file_, std::filesystem::perms(0640));
    std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  }
  bool CanOpen() const { return static_cast<bool>(UniqueFd(::open(file_.c_str(), O_RDONLY))); }

  const test::TemporaryDirectory directory_;
  const std::string file_ = directory_.File("secret");
};

TEST_F(FileRightsTest, AreAnotherUsersWhileTheyLast) {
  const std::vector<gid_t> groups = Groups();
  {
    const FileRights rights(65534, 65534);
    ASSERT_TRUE(rights.are_in_force());
    EXPECT_FALSE(CanOpen());
    EXPECT_EQ(::geteuid(), 0U);  // for all else it is root still
  }
  EXPECT_TRUE(CanOpen());
  EXPECT_EQ(Groups(), groups);
  EXPECT_EQ(::prctl(PR_GET_DUMPABLE), 1);
}

TEST_F(FileRightsTest, AreTheUsersOwnOfFiles) {
  ASSERT_EQ(::chown(file_.c_str(), 65534, 65534), 0);
  const FileRights rights(65534, 65534);
  EXPECT_TRUE(CanOpen());
}

TEST_F(FileRightsTest, StayRootsForRoot) {
  const FileRights rights(0, 0);
  EXPECT_TRUE(rights.are_in_force());
  EXPECT_TRUE(CanOpen());
}

}  // namespace
}  // namespace leakgate
