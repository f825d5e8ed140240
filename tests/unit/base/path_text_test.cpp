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

TEST(PathTextTest, FoldsLettersOfOneCaseAsNtfsDoes) {
  EXPECT_EQ(FoldedPath("C:\\Src\\ÄÖÜ×.CPP"), "c:/src/äöü×.cpp");
  EXPECT_EQ(FoldedPath("ÀÞŸĀŽŁŃ ΑΩΣς ЁЯҐ"), "àþÿāžłń αωσσ ёяґ");
}

TEST(PathTextTest, FoldsNoLetterIntoOthers) {
  for (const std::string text : {"ß", "ſ", "ı", "İ", "i", "straße", "÷", "中", "𝒜", "ĸ"}) {
    EXPECT_EQ(FoldedPath(text), text);
  }
  EXPECT_NE(FoldedPath("I"), FoldedPath("ı"));
  EXPECT_NE(FoldedPath("İ"), FoldedPath("i"));
  EXPECT_NE(FoldedPath("STRASSE"), FoldedPath("STRAßE"));
}

TEST(PathTextTest, FoldsTextsThatAreNoUtf8AsTheyAre) {
  for (const std::string text : {"\xc3", "\xc3/", "\xc3\xc3\x84", "\x84\x84", "\xe4\xb8"}) {
    EXPECT_EQ(FoldedPath(text).size(), text.size());
  }
}

TEST(PathTextTest, KeepsThePrefixOfPathsOfAnyLength) {
  if (!kFoldsNames) GTEST_SKIP() << "only Windows has it";
  EXPECT_EQ(PathOf("//?/C:/src/a").native(), std::filesystem::path(R"(\\?\C:\src\a)").native());
  EXPECT_EQ(PathText(PathOf(R"(\\?\C:\src\a)")), "//?/C:/src/a");
  EXPECT_EQ(PathText(PathOf(R"(\\build\src)")), "//build/src");
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
