#include "runner/process/process_image.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace leakgate {
namespace {

namespace fs = std::filesystem;

class ProcessImageTest : public testing::Test {
 protected:
  ~ProcessImageTest() override { fs::remove_all(directory_); }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name) << text;
    return (directory_ / name).string();
  }
  static fs::path NewDirectory() {
    std::string name = (fs::temp_directory_path() / "image-XXXXXX").string();
    return fs::canonical(::mkdtemp(name.data()));
  }
  const fs::path directory_ = NewDirectory();
};

TEST_F(ProcessImageTest, OfAFileIsTheFile) {
  const std::string file = Write("a", "text");
  EXPECT_EQ(ImageBehind(file), file);
}

TEST_F(ProcessImageTest, OfALinkIsTheFileBehindIt) {
  const std::string file = Write("a", "text");
  fs::create_symlink(file, directory_ / "b");
  EXPECT_EQ(ImageBehind((directory_ / "b").string()), file);
}

TEST_F(ProcessImageTest, OfAScriptIsItsInterpreter) {
  const std::string interpreter = Write("a", "text");
  EXPECT_EQ(ImageBehind(Write("b", "#! " + interpreter + " -e\nexit\n")), interpreter);
  EXPECT_EQ(ImageBehind(Write("c", "#!" + interpreter + "\n")), interpreter);
}

TEST_F(ProcessImageTest, OfAScriptWithoutInterpreterIsTheScript) {
  const std::string script = Write("b", "#!  ");
  EXPECT_EQ(ImageBehind(script), script);
}

TEST_F(ProcessImageTest, OfAScriptThatInterpretsItselfIsFoundAllTheSame) {
  const std::string script = (directory_ / "b").string();
  Write("b", "#!" + script + "\n");
  EXPECT_EQ(ImageBehind(script), script);
}

TEST_F(ProcessImageTest, OfAProcessIsItsExecutable) {
  EXPECT_EQ(ImageOf(::getpid()), fs::read_symlink("/proc/self/exe").string());
  EXPECT_EQ(ImageOf(-1), "");
}

TEST_F(ProcessImageTest, TellsThatAProcessHasEnded) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::pause();
    ::_exit(0);
  }
  const UniqueFd watch = WatchEnd(pid);
  ASSERT_TRUE(watch);
  EXPECT_FALSE(HasEnded(watch));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_TRUE(HasEnded(watch));
}

}  // namespace
}  // namespace leakgate
