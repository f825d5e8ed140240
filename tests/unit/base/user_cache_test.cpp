#include "runner/base/user_cache.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

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

bool IsMade(const fs::path& folder) { return static_cast<bool>(CacheFolder::Make(folder)); }

TEST_F(UserCacheTest, MakesFoldersForTheUserAlone) {
  const fs::path folder = scratch_path() / "a" / "leakgate" / "baselines";
  EXPECT_FALSE(CacheFolder::Open(folder));
  EXPECT_TRUE(IsMade(folder));
  struct stat facts {};
  ASSERT_EQ(::stat((scratch_path() / "a").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0700U);
  EXPECT_TRUE(IsMade(folder));  // it is there
  EXPECT_TRUE(CacheFolder::Open(folder));
}

TEST_F(UserCacheTest, MakesFoldersInTmpButNotWhereOthersMayReplaceThem) {
  SetMode(0777);
  EXPECT_FALSE(IsMade(scratch_path() / "a"));
  EXPECT_FALSE(Has("a"));
  SetMode(01777);
  EXPECT_TRUE(IsMade(scratch_path() / "a"));
}

TEST_F(UserCacheTest, UsesNoFolderThatOthersMayWriteTo) {
  fs::create_directory(scratch_path() / "below");
  ::chmod((scratch_path() / "below").c_str(), 0700);
  SetMode(0720);
  EXPECT_FALSE(IsMade(scratch_path()));
  SetMode(0777);
  EXPECT_FALSE(IsMade(scratch_path() / "below"));
  SetMode(0700);
  EXPECT_TRUE(IsMade(scratch_path()));
  EXPECT_TRUE(IsMade(scratch_path() / "below"));
}

TEST_F(UserCacheTest, IsNoLinkButMayLieBehindOnesOfTheUsers) {
  fs::create_directory(scratch_path() / "disk");
  fs::create_directory_symlink(scratch_path() / "disk", scratch_path() / "link");
  fs::create_directory_symlink("link", scratch_path() / "relative");
  EXPECT_FALSE(IsMade(scratch_path() / "link"));
  EXPECT_TRUE(IsMade(scratch_path() / "relative" / "leakgate"));
  EXPECT_TRUE(Has("disk/leakgate"));
  fs::create_directory_symlink("circle", scratch_path() / "circle");
  EXPECT_FALSE(IsMade(scratch_path() / "circle" / "leakgate"));
}

TEST_F(UserCacheTest, MakesNoLongPath) {
  EXPECT_FALSE(IsMade(scratch_path() / "a" / "b" / "c" / "d"));
  EXPECT_FALSE(Has("a"));
}

TEST_F(UserCacheTest, RemovesTheOldestFilesAndNoFolder) {
  fs::create_directory(scratch_path() / "baselines");
  for (const char* const name : {"1", "2", "3", "4", "5"}) Write(name, 100);
  const CacheFolder folder = CacheFolder::Open(scratch_path());
  folder.Limit({.bytes = 500});
  EXPECT_TRUE(Has("1"));
  folder.Limit({.bytes = 400});
  EXPECT_FALSE(Has("1"));
  EXPECT_FALSE(Has("2"));
  EXPECT_TRUE(Has("3"));
  folder.Limit({.files = 2});
  EXPECT_FALSE(Has("3"));
  EXPECT_TRUE(Has("4"));
  EXPECT_TRUE(Has("baselines"));
}

TEST_F(UserCacheTest, ReadsFilesOfTheUserAloneAndNothingElse) {
  const CacheFolder folder = CacheFolder::Open(scratch_path());
  EXPECT_TRUE(folder.Write("file", "kept"));
  EXPECT_EQ(folder.Read("file", 4), "kept");
  EXPECT_EQ(folder.Read("file", 3), "");  // too large
  EXPECT_EQ(folder.Read("missing", 100), "");
  fs::create_symlink("file", scratch_path() / "link");
  fs::create_directory(scratch_path() / "folder");
  ASSERT_EQ(::mkfifo((scratch_path() / "fifo").c_str(), 0600), 0);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
  (scratch_path() / "socket").string().copy(name.sun_path, sizeof name.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  for (const char* const other : {"link", "folder", "fifo", "socket"}) {
    EXPECT_EQ(folder.Read(other, 100), "") << other;
  }
  ::close(socket);
  ::chmod((scratch_path() / "file").c_str(), 0666);
  EXPECT_EQ(folder.Read("file", 100), "");
}

// A FIFO would wait for a reader.
TEST_F(UserCacheTest, PutsFilesInThePlaceOfWhateverIsThere) {
  const CacheFolder folder = CacheFolder::Open(scratch_path());
  Write("other", 100);
  fs::create_symlink("other", scratch_path() / "link");
  ASSERT_EQ(::mkfifo((scratch_path() / "fifo").c_str(), 0600), 0);
  fs::create_directory(scratch_path() / "folder");
  for (const char* const name : {"new", "other", "link", "fifo"}) {
    EXPECT_TRUE(folder.Write(name, name)) << name;
    EXPECT_EQ(folder.Read(name, 100), name);
  }
  EXPECT_EQ(folder.Read("other", 100), "other");
  EXPECT_FALSE(folder.Write("folder", "text"));
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(scratch_path())) ++entries;
  EXPECT_EQ(entries, 5U) << "nothing else is left";
}

// What root may do in another user's folders, that user may have chosen.
class CacheOfRootTest : public UserCacheTest {
 protected:
  static constexpr uid_t kOtherUser = 65534;

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user as well";
    SetMode(0755);
    for (const char* const folder : {"home", "home/.cache", "victim", "victim/leakgate"}) {
      fs::create_directory(scratch_path() / folder);
      ::chmod((scratch_path() / folder).c_str(), 0755);
    }
    Write("victim/leakgate/precious", 100);
  }
  void Give(const char* folder) const {
    ASSERT_EQ(::chown((scratch_path() / folder).c_str(), kOtherUser, kOtherUser), 0);
  }
  // While `use` runs, the stranger exchanges `name` for a link to the victim's and back.
  template <typename Use>
  void WithASwap(const fs::path& name, const Use& use) const {
    const pid_t swapper = ::fork();
    if (swapper == 0) {
      if (::setgid(kOtherUser) != 0 || ::setuid(kOtherUser) != 0) ::_exit(1);
      const fs::path aside = name.string() + ".aside";
      const fs::path victim = scratch_path() / "victim";
      for (;;) {
        ::rename(name.c_str(), aside.c_str());
        (void)!::symlink(victim.c_str(), name.c_str());
        ::unlink(name.c_str());
        ::rename(aside.c_str(), name.c_str());
      }
    }
    for (int i = 0; i < 3000; ++i) use();
    ::kill(swapper, SIGKILL);
    int status = 0;
    ::waitpid(swapper, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
  }
  void ExpectNoHarm() const {
    std::size_t entries = 0;
    for ([[maybe_unused]] const auto& entry :
         fs::recursive_directory_iterator(scratch_path() / "victim")) {
      ++entries;
    }
    EXPECT_EQ(entries, 2U);
    EXPECT_EQ(fs::file_size(scratch_path() / "victim/leakgate/precious"), 100U);
  }
  static void UseAll(const fs::path& path) {
    const CacheFolder folder = CacheFolder::Make(path);
    (void)folder.Write("new", "text");
    folder.Limit({.bytes = 10});
  }
};

TEST_F(CacheOfRootTest, IsNotInAnotherUsersHome) {
  const fs::path cache = scratch_path() / "home/.cache/leakgate";
  fs::create_directory(cache);  // of root's, from an earlier version
  EXPECT_TRUE(IsMade(cache));
  Give("home");
  EXPECT_FALSE(IsMade(cache));
  fs::remove(cache);
  EXPECT_FALSE(IsMade(cache));
  EXPECT_FALSE(fs::exists(cache));
  fs::remove(scratch_path() / "home/.cache");
  fs::create_directory_symlink(scratch_path() / "victim", scratch_path() / "home/.cache");
  UseAll(cache);
  ExpectNoHarm();
}

TEST_F(CacheOfRootTest, IsNotLedElsewhereByTheOwnerOfTheHome) {
  const fs::path cache = scratch_path() / "home/.cache/leakgate";
  fs::create_directory(cache);
  Give("home");
  WithASwap(scratch_path() / "home/.cache", [&] { UseAll(cache); });
  ExpectNoHarm();
  EXPECT_FALSE(fs::exists(cache / "new"));
}

TEST_F(CacheOfRootTest, IsNotLedElsewhereByTheOwnerOfTheCache) {
  Give("home/.cache");
  const fs::path cache = scratch_path() / "home/.cache/leakgate";
  WithASwap(cache, [&] { UseAll(cache); });
  ExpectNoHarm();
}

// As in /tmp, where everybody may have a folder of any name.
TEST_F(CacheOfRootTest, IsNotLedElsewhereWhereAllMayMakeFolders) {
  ::chmod((scratch_path() / "home").c_str(), 01777);
  Give("home/.cache");
  WithASwap(scratch_path() / "home/.cache",
            [&] { UseAll(scratch_path() / "home/.cache/leakgate"); });
  ExpectNoHarm();
}

}  // namespace
}  // namespace leakgate::test
