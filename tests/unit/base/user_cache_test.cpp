#include "runner/base/user_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/support/command.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;

class UserCacheTest : public testing::Test {
 protected:
  void SetMode(mode_t mode) { ASSERT_EQ(::chmod(scratch_.path().c_str(), mode), 0); }

  // Each is newer than the one before.
  void Write(const std::string& name, std::size_t bytes) {
    std::ofstream(scratch_path() / name) << std::string(bytes, 'x');
    fs::last_write_time(scratch_path() / name, written_ += std::chrono::seconds(1));
  }
  bool Has(const std::string& name) { return fs::exists(scratch_path() / name); }
  fs::path scratch_path() const { return scratch_.path(); }

 private:
  TemporaryDirectory scratch_;
  fs::file_time_type written_ = fs::file_time_type::clock::now() - std::chrono::hours(1);
};

TEST_F(UserCacheTest, MakesFoldersForTheUserAlone) {
  const fs::path folder = scratch_path() / "a" / "leakgate" / "baselines";
  EXPECT_TRUE(MakeCacheFolder(folder));
  struct stat facts {};
  ASSERT_EQ(::stat((scratch_path() / "a").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0700U);
  EXPECT_TRUE(MakeCacheFolder(folder));  // it is there
}

TEST_F(UserCacheTest, MakesFoldersInTmpButNotWhereOthersMayReplaceThem) {
  SetMode(0777);
  EXPECT_FALSE(MakeCacheFolder(scratch_path() / "a"));
  EXPECT_FALSE(Has("a"));
  SetMode(01777);
  EXPECT_TRUE(MakeCacheFolder(scratch_path() / "a"));
}

TEST_F(UserCacheTest, UsesNoFolderThatOthersMayWriteTo) {
  SetMode(0720);
  EXPECT_FALSE(MakeCacheFolder(scratch_path()));
  SetMode(0700);
  EXPECT_TRUE(MakeCacheFolder(scratch_path()));
  fs::create_directory_symlink(scratch_path(), scratch_path() / "link");
  EXPECT_FALSE(MakeCacheFolder(scratch_path() / "link"));
}

TEST_F(UserCacheTest, MakesNoLongPath) {
  EXPECT_FALSE(MakeCacheFolder(scratch_path() / "a" / "b" / "c" / "d"));
  EXPECT_FALSE(Has("a"));
}

TEST_F(UserCacheTest, RemovesTheOldestFilesAndNoFolder) {
  fs::create_directory(scratch_path() / "baselines");
  for (const char* const name : {"1", "2", "3", "4", "5"}) Write(name, 100);
  LimitCacheFolder(scratch_path(), {.bytes = 500});
  EXPECT_TRUE(Has("1"));
  LimitCacheFolder(scratch_path(), {.bytes = 400});
  EXPECT_FALSE(Has("1"));
  EXPECT_FALSE(Has("2"));
  EXPECT_TRUE(Has("3"));
  LimitCacheFolder(scratch_path(), {.files = 2});
  EXPECT_FALSE(Has("3"));
  EXPECT_TRUE(Has("4"));
  EXPECT_TRUE(Has("baselines"));
}

}  // namespace
}  // namespace leakgate::test
