// Which files are opened and read, and which are refused.
#include "runner/base/regular_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/command.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;
using testing::StartsWith;

class RegularFileTest : public testing::Test {
 protected:
  static std::string WhyNot(const fs::path& path) {
    const auto file = OpenRegularFile(path);
    return file ? "no error" : file.error().message();
  }
  fs::path Write(const std::string& text) const {
    std::ofstream(directory_ / "file") << text;
    return directory_ / "file";
  }

  const test::TemporaryDirectory temporary_;
  const fs::path directory_{temporary_.path()};
};

TEST_F(RegularFileTest, IsReadAsAWhole) {
  const std::string text(100'000, 'x');
  EXPECT_EQ(ReadRegularFile(Write(text), text.size()), text);
}

TEST_F(RegularFileTest, IsReadByAStream) {
  const std::string text(200'000, 'x');
  const auto stream = MakeInputStream(*OpenRegularFile(Write(text)));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(*stream), {}), text);
  EXPECT_FALSE(stream->bad());
}

TEST_F(RegularFileTest, IsReadThroughALink) {
  fs::create_symlink(Write("text"), directory_ / "link");
  EXPECT_EQ(ReadRegularFile(directory_ / "link", 4), "text");
}

TEST_F(RegularFileTest, IsNoFifo) {
  ASSERT_EQ(::mkfifo((directory_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(WhyNot(directory_ / "fifo"), "it is a FIFO, not a regular file");
}

// A process that waits for a reader of the FIFO must not be woken.
TEST_F(RegularFileTest, IsNoReaderOfAFifo) {
  const fs::path fifo = directory_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_FALSE(OpenRegularFile(fifo));
  EXPECT_EQ(::open(fifo.c_str(), O_WRONLY | O_NONBLOCK), -1);
}

TEST_F(RegularFileTest, IsNoDeviceOrDirectory) {
  EXPECT_EQ(WhyNot("/dev/zero"), "it is a device, not a regular file");
  EXPECT_EQ(WhyNot(directory_), "it is a directory, not a regular file");
}

TEST_F(RegularFileTest, ThatIsNotThereIsSaidSo) {
  EXPECT_EQ(OpenRegularFile(directory_ / "none").error(), std::errc::no_such_file_or_directory);
}

TEST_F(RegularFileTest, IsNotReadBeyondWhatItMayHave) {
  const auto text = ReadRegularFile(Write("12345"), 4);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message(), StartsWith("it is too large"));
}

// Files of /proc are regular files whose size is 0, and which may have no end.
TEST_F(RegularFileTest, MayHaveMoreThanItSays) {
  EXPECT_GT(ReadRegularFile("/proc/self/maps", 1 << 20).value().size(), 100U);
  EXPECT_FALSE(ReadRegularFile("/proc/self/maps", 100));
}

TEST_F(RegularFileTest, IsWhatElfutilsMayOpen) {
  ASSERT_EQ(::mkfifo((directory_ / "fifo").c_str(), 0600), 0);
  EXPECT_TRUE(IsRegularOrMissing(directory_ / "none"));
  EXPECT_TRUE(IsRegularOrMissing(Write("")));
  EXPECT_FALSE(IsRegularOrMissing(directory_ / "fifo"));
}

}  // namespace
}  // namespace leakgate
