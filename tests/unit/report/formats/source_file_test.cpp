#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "runner/base/path_text.h"
#include "runner/report/formats/source_excerpts.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;
using testing::Optional;

class SourceFileTest : public testing::Test {
 protected:
  SourceFileTest() {
    std::string pattern = testing::TempDir() + "/leakgate-sources-XXXXXX";
    directory_ = fs::canonical(::mkdtemp(pattern.data()));
    fs::create_directory(directory_ / "root");
  }
  ~SourceFileTest() override { fs::remove_all(directory_); }

  std::string Write(const std::string& name, const std::string& text = "text\n") const {
    std::ofstream(directory_ / name) << text;
    return directory_ / name;
  }

  fs::path directory_;
};

TEST_F(SourceFileTest, IsReadByTheNameThatDebugInformationHas) {
  for (const char* const name : {"a.cc", "b.H", "c.inl", "d.tpp", "e.S", "f.c++", "g.cu"}) {
    EXPECT_THAT(ReadSourceFile(Write(name)), Optional(std::string("text\n"))) << name;
  }
  Write("root/a.cc", "another\n");
  EXPECT_THAT(ReadSourceFile(directory_ / "root/../root/./a.cc"),
              Optional(std::string("another\n")));
}

// Debug information may name anything.
TEST_F(SourceFileTest, IsOnlyWhatIsCalledLikeASource) {
  for (const char* const name : {"shadow", "key.pem", "notes.txt", "id_rsa", "a.cc.bak", ".cc"}) {
    EXPECT_EQ(ReadSourceFile(Write(name)), std::nullopt) << name;
  }
}

TEST_F(SourceFileTest, IsNoLinkToWhatIsCalledOtherwise) {
  fs::create_symlink(Write("shadow"), directory_ / "a.cc");
  fs::create_symlink(Write("real.cc"), directory_ / "b");
  EXPECT_EQ(ReadSourceFile(directory_ / "a.cc"), std::nullopt);
  EXPECT_THAT(ReadSourceFile(directory_ / "b"), Optional(std::string("text\n")));
}

TEST_F(SourceFileTest, IsARegularFileOfASourcesSize) {
  ASSERT_EQ(::mkfifo((directory_ / "fifo.cc").c_str(), 0600), 0);
  fs::create_directory(directory_ / "directory.cc");
  fs::create_symlink("/dev/zero", directory_ / "device.cc");
  fs::resize_file(Write("huge.cc"), 5UL * 1024 * 1024);
  for (const char* const name : {"fifo.cc", "directory.cc", "device.cc", "huge.cc", "gone.cc"}) {
    EXPECT_EQ(ReadSourceFile(directory_ / name), std::nullopt) << name;
  }
}

TEST_F(SourceFileTest, IsReadBelowARootOnlyIfItIsThere) {
  Write("root/a.cc");
  Write("outside.cc");
  fs::create_directory(directory_ / "root2");
  Write("root2/b.cc");
  fs::create_symlink("../outside.cc", directory_ / "root/link.cc");
  fs::create_directory_symlink("..", directory_ / "root/up");
  fs::create_directory_symlink("root", directory_ / "also_root");
  const Expected<ReadSource> read = SourcesBelow(directory_ / "also_root");
  ASSERT_TRUE(read);

  EXPECT_TRUE((*read)(directory_ / "root/a.cc"));
  EXPECT_TRUE((*read)(directory_ / "also_root/../root/a.cc"));
  EXPECT_TRUE((*read)("a.cc"));
  for (const char* const name :
       {"outside.cc", "root/../outside.cc", "root/link.cc", "root/up/outside.cc", "root2/b.cc"}) {
    EXPECT_FALSE((*read)(directory_ / name)) << name;
  }
  EXPECT_FALSE((*read)("../outside.cc"));
  EXPECT_FALSE((*read)("/proc/self/root" + PathText(directory_ / "outside.cc")));
}

TEST_F(SourceFileTest, HasARootThatIsADirectory) {
  const Expected<ReadSource> read = SourcesBelow(directory_ / "gone");

  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().exit_code, ExitCode::kUsage);
  EXPECT_EQ(read.error().message, "--source-root " + PathText(directory_ / "gone") +
                                      ": no such directory; correct the path");
  EXPECT_FALSE(SourcesBelow(Write("file")));
  EXPECT_TRUE(SourcesBelow("/"));
}

}  // namespace
}  // namespace leakgate
