#include "runner/base/path_text.h"

#include <gtest/gtest.h>

namespace leakgate {
namespace {

TEST(PathTextTest, IsUtf8InBothDirections) {
  const std::string text = "/src/M\xc3\xbcller/\xe4\xb8\xad.cpp";
  EXPECT_EQ(PathText(PathOf(text)), text);
}

TEST(PathTextTest, TakesTextsThatAreNoUtf8) {
  EXPECT_FALSE(PathText(PathOf("/src/\xff\xfe.cpp")).empty());
}

TEST(PathTextTest, KnowsPathsOfWindowsByDrivesAndServers) {
  EXPECT_TRUE(IsWindowsPath("C:\\src"));
  EXPECT_TRUE(IsWindowsPath("z:/src"));
  EXPECT_TRUE(IsWindowsPath("\\\\build\\src"));
  EXPECT_FALSE(IsWindowsPath("/src/C:/x"));
  EXPECT_FALSE(IsWindowsPath("src\\x"));
  EXPECT_FALSE(IsWindowsPath("1:/x"));
  EXPECT_FALSE(IsWindowsPath("c:"));
}

TEST(PathTextTest, DividesFoldersBySlashesInPathsOfWindowsAlone) {
  EXPECT_EQ(WithSlashes("C:\\src\\net.cpp"), "C:/src/net.cpp");
  EXPECT_EQ(WithSlashes("/src/a\\b.cpp"), "/src/a\\b.cpp");
}

TEST(PathTextTest, FoldsTheCaseOfAscii) {
  EXPECT_EQ(FoldedPath("C:\\Src\\\xc3\x84.CPP"), "c:/src/\xc3\x84.cpp");
}

TEST(PathTextTest, TakesTheLastPartForTheFileName) {
  EXPECT_EQ(FileNameIn("/src/net_test"), "net_test");
  EXPECT_EQ(FileNameIn("net_test"), "net_test");
}

TEST(PathTextTest, KnowsAbsolutePathsOfAnySystem) {
  EXPECT_TRUE(IsAbsolutePath("/src"));
  EXPECT_TRUE(IsAbsolutePath("C:/src"));
  EXPECT_FALSE(IsAbsolutePath("src/C:/x"));
}

}  // namespace
}  // namespace leakgate
