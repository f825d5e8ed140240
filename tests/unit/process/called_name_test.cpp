#include "runner/process/called_name.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace leakgate {
namespace {

namespace fs = std::filesystem;

// A directory with the file "image" and the link "bin/net" to it.
class CalledNameTest : public testing::Test {
 protected:
  CalledNameTest() {
    std::ofstream(directory_ / "image") << "text";
    std::ofstream(directory_ / "other") << "text";
    fs::create_directory(directory_ / "bin");
    fs::create_symlink("../image", directory_ / "bin" / "net");
  }
  ~CalledNameTest() override { fs::remove_all(directory_); }
  std::string File(const std::string& name) const { return (directory_ / name).string(); }
  std::string NameOf(const ProgramCall& call) const { return CalledName(call, File("image")); }

  const fs::path directory_ =
      fs::canonical(::mkdtemp((fs::temp_directory_path() / "called-XXXXXX").string().data()));
};

TEST_F(CalledNameTest, IsWhatExecWasGiven) {
  EXPECT_EQ(NameOf({.executed = File("bin/net"), .first_argument = "any"}), File("bin/net"));
  EXPECT_EQ(NameOf({.executed = File("image"), .first_argument = File("bin/net")}), File("image"));
}

TEST_F(CalledNameTest, IsAbsoluteWhereTheWorkingDirectoryTells) {
  EXPECT_EQ(NameOf({.executed = "./net", .first_argument = "", .directory = File("bin")}),
            File("bin/net"));
  EXPECT_EQ(NameOf({.executed = "./net", .first_argument = ""}), File("image"));
}

TEST_F(CalledNameTest, IsTheFirstArgumentWhereExecsNameCannotBeRead) {
  EXPECT_EQ(NameOf({.executed = "", .first_argument = File("bin/net")}), File("bin/net"));
  EXPECT_EQ(NameOf({.executed = "",
                    .first_argument = "net",
                    .directory = "/",
                    .search_path = "/usr/bin:" + File("bin")}),
            File("bin/net"));
}

TEST_F(CalledNameTest, IsTheImageWhereNothingLeadsToIt) {
  EXPECT_EQ(NameOf({}), File("image"));
  EXPECT_EQ(NameOf({.executed = File("other"), .first_argument = "server: idle"}), File("image"));
  fs::remove(File("bin/net"));
  EXPECT_EQ(NameOf({.executed = File("bin/net"), .first_argument = ""}), File("image"));
}

}  // namespace
}  // namespace leakgate
