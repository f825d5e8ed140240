#include "runner/budget/codeowners.h"

#include <gtest/gtest.h>

#include "runner/base/path_text.h"

namespace leakgate {
namespace {

// Returns "FOLDER: OWNERS", or "nobody".
std::string OwnerIn(const std::string& text, const std::string& file) {
  const std::optional<FolderOwner> owner = Codeowners::Parse(text).OwnerOf(file);
  return owner ? PathText(owner->folder) + ": " + owner->owners : "nobody";
}

TEST(CodeownersTest, TheLastLineThatMatchesCounts) {
  const std::string text = "* @all\n/src/net/ @net @alice\n/src/net/tls/ @tls\n";
  EXPECT_EQ(OwnerIn(text, "src/net/http_test.cc"), "src/net: @net @alice");
  EXPECT_EQ(OwnerIn(text, "src/net/tls/deep/cert_test.cc"), "src/net/tls: @tls");
  EXPECT_EQ(OwnerIn(text, "README.md"), ": @all");
  EXPECT_EQ(OwnerIn("/src/net/ @net\n* @all\n", "src/net/http_test.cc"), ": @all");
}

TEST(CodeownersTest, AFolderIsNamedWithAndWithoutItsSlashAndItsContents) {
  for (const char* const pattern :
       {"/src/net/", "src/net/", "/src/net", "src/net", "src/net/*", "/src/net/**", "src/n*t/"}) {
    EXPECT_EQ(OwnerIn(std::string(pattern) + " @net", "src/net/a.cc"), "src/net: @net") << pattern;
    EXPECT_EQ(OwnerIn(std::string(pattern) + " @net", "src/nut.cc"), "nobody") << pattern;
  }
}

TEST(CodeownersTest, AStarDoesNotGoIntoFolders) {
  EXPECT_EQ(OwnerIn("/src/*.cc @src", "src/a.cc"), "src: @src");
  EXPECT_EQ(OwnerIn("/src/*.cc @src", "src/net/a.cc"), "nobody");
  EXPECT_EQ(OwnerIn("/src/**/*.cc @src", "src/net/tls/a.cc"), "src/net/tls: @src");
  EXPECT_EQ(OwnerIn("/src/**/*.cc @src", "src/a.cc"), "src: @src");
}

TEST(CodeownersTest, APatternWithoutSlashIsOfAnyDepth) {
  EXPECT_EQ(OwnerIn("net/ @net", "src/net/a.cc"), "src/net: @net");
  EXPECT_EQ(OwnerIn("net @net", "src/net/a.cc"), "src/net: @net");
  EXPECT_EQ(OwnerIn("*_test.cc @qa", "src/net/a_test.cc"), ": @qa");
  EXPECT_EQ(OwnerIn("a.cc/ @net", "src/a.cc"), "nobody") << "it is no folder";
}

TEST(CodeownersTest, ALineWithoutOwnersTakesTheFileAway) {
  EXPECT_EQ(OwnerIn("/src/ @src\n/src/gen/\n", "src/gen/a.cc"), "nobody");
}

TEST(CodeownersTest, CommentsSectionsAndBlanksArePassedOver) {
  EXPECT_EQ(OwnerIn("# * @no\n\n[Team][2]\n^[Docs]\n\t/a\\ b/  @ab # ours\r\n", "a b/c.cc"),
            "a b: @ab");
}

TEST(CodeownersTest, ManyStarsTakeNoLongerThanOthers) {
  std::string stars;
  for (int i = 0; i < 60; ++i) stars += "**a*";
  EXPECT_EQ(OwnerIn("/" + stars + "b @x", std::string(200, 'a')), "nobody");
}

}  // namespace
}  // namespace leakgate
