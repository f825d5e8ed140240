#include "runner/process/process_image.h"

#include <gmock/gmock.h>
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

TEST(ShortenedProgramTest, IsTheSameWhereThereIsLittle) {
  const ExecutedProgram program = Shortened({"/bin/a", {"a", "", "b c"}, "a"}, 64);
  EXPECT_EQ(program.path, "/bin/a");
  EXPECT_EQ(program.name, "a");
  EXPECT_THAT(program.arguments, testing::ElementsAre("a", "", "b c"));
}

TEST(ShortenedProgramTest, SaysWhereArgumentsAreLeftOut) {
  EXPECT_THAT(Shortened({"/a", {"12345", "1234567", "8"}}, 10).arguments,
              testing::ElementsAre("12345", "12345...", "..."));
  const ExecutedProgram many{"/a", std::vector<std::string>(190'000, "x")};
  EXPECT_THAT(Shortened(many).arguments, testing::SizeIs(33));
  EXPECT_EQ(Shortened(many).arguments.back(), "...");
}

TEST(ShortenedProgramTest, KeepsTheEndOfAPath) {
  EXPECT_EQ(Shortened({"/usr/local/bin/server", {}, "server"}, 10).path, "...bin/server");
}

}  // namespace
}  // namespace leakgate
