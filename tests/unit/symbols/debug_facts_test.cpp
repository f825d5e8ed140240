#include "runner/symbols/debug_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/symbols/compiled_library.h"

namespace leakgate {
namespace {

using testing::Optional;

// Compiles a program with `flags`, and runs the command `then`, which may change "program".
DebugFacts FactsOf(const std::string& flags, const std::string& then = "true") {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "program.cpp") << "int main() { return 0; }\n";
  folder.Run("g++ " + flags + " -o program program.cpp && " + then);
  DebugFacts facts = ReadDebugFacts(folder.path() / "program");
  if (!facts.separate_file.empty()) {
    facts.separate_file = std::filesystem::path(facts.separate_file).filename();
  }
  return facts;
}

TEST(DebugFactsTest, OfADebugBuildAreAllThere) {
  const DebugFacts facts = FactsOf("-g");
  EXPECT_TRUE(facts.has_symbols);
  EXPECT_TRUE(facts.has_lines);
  EXPECT_TRUE(facts.has_unwind_table);
  EXPECT_EQ(facts.separate_file, "");
}

TEST(DebugFactsTest, HaveSymbolsWithoutDebugInformation) {
  const DebugFacts facts = FactsOf("-g0");
  EXPECT_TRUE(facts.has_symbols);
  EXPECT_FALSE(facts.has_lines);
}

TEST(DebugFactsTest, HaveNoSymbolsOfAStrippedFile) {
  const DebugFacts facts = FactsOf("-s");
  EXPECT_FALSE(facts.has_symbols);
  EXPECT_TRUE(facts.has_unwind_table);
}

TEST(DebugFactsTest, HaveNoUnwindTableThatTheLinkerWasToldToLeaveOut) {
  EXPECT_FALSE(FactsOf("-Wl,--no-eh-frame-hdr").has_unwind_table);
}

constexpr char kSeparate[] =
    "objcopy --only-keep-debug program program.debug && strip program && "
    "objcopy --add-gnu-debuglink=program.debug program";

TEST(DebugFactsTest, AreReadFromASeparateFile) {
  const DebugFacts facts = FactsOf("-g", kSeparate);
  EXPECT_TRUE(facts.has_symbols);
  EXPECT_TRUE(facts.has_lines);
  EXPECT_EQ(facts.separate_file, "program.debug");
}

// Without a build-id, only the checksum in the link proves that the files belong together.
TEST(DebugFactsTest, AreReadFromASeparateFileOfTheRightChecksumOnly) {
  EXPECT_TRUE(FactsOf("-g -Wl,--build-id=none", kSeparate).has_lines);
  const std::string then = std::string(kSeparate) + " && echo more >> program.debug";
  EXPECT_FALSE(FactsOf("-g -Wl,--build-id=none", then).has_lines);
}

TEST(DebugFactsTest, NameASeparateFileThatIsMissing) {
  const DebugFacts facts = FactsOf("-g", std::string(kSeparate) + " && rm program.debug");
  EXPECT_FALSE(facts.has_lines);
  EXPECT_EQ(facts.debug_link, "program.debug");
}

TEST(DebugFactsTest, OfWhatIsNoElfFileAreNone) {
  EXPECT_FALSE(ReadDebugFacts("/etc/passwd").has_symbols);
  EXPECT_FALSE(ReadDebugFacts("/no/such/file").has_unwind_table);
}

// Has a library of src/net/a.cpp, compiled in the folder `build` by relative names.
class CompiledFilesTest : public testing::Test {
 protected:
  CompiledFilesTest() {
    folder_.Run(
        "mkdir -p src/net src/disk build other && echo 'int net;' > src/net/a.cpp && "
        "echo 'int disk;' > src/disk/a.cpp");
  }
  CompiledFiles Linked(const std::string& flags = "-g") const {
    folder_.Run("cd build && g++ -fPIC -c ../src/net/a.cpp " + flags +
                " -o net.o && g++ -shared *.o "
                "-o ../lib.so");
    return CompiledFiles(folder_.path() / "lib.so");
  }
  const ScratchFolder folder_;
};

TEST_F(CompiledFilesTest, AreFoundFromTheBuildsDirectory) {
  EXPECT_THAT(Linked().Find("../src/net/a.cpp"), Optional(folder_.path() / "src/net/a.cpp"));
  EXPECT_THAT(Linked("-g -gsplit-dwarf").Find("../src/net/a.cpp"),
              Optional(folder_.path() / "src/net/a.cpp"));
}

TEST_F(CompiledFilesTest, AreFoundOfAProgramBelowTheCurrentDirectory) {
  (void)Linked();
  const auto program = std::filesystem::relative(folder_.path() / "lib.so");
  EXPECT_THAT(CompiledFiles(program).Find("../src/net/a.cpp"),
              Optional(folder_.path() / "src/net/a.cpp"));
}

TEST_F(CompiledFilesTest, AreNotFoundWithoutDebugInformation) {
  EXPECT_EQ(Linked("").Find("../src/net/a.cpp"), std::nullopt);
}

TEST_F(CompiledFilesTest, AreNotFoundWhereTheyAreNot) {
  const CompiledFiles files = Linked();
  folder_.Run("rm -r src");
  EXPECT_EQ(files.Find("../src/net/a.cpp"), std::nullopt);
}

// This happens if each folder is a build of its own.
TEST_F(CompiledFilesTest, AreNotGuessedWhereSeveralHaveTheName) {
  folder_.Run("echo 'int other;' > src/a.cpp && cd src && g++ -fPIC -g -c a.cpp -o ../build/1.o");
  EXPECT_NE(Linked().Find("a.cpp"), std::nullopt);
  folder_.Run("cd src/disk && g++ -fPIC -g -c a.cpp -o ../../build/2.o");
  EXPECT_EQ(Linked().Find("a.cpp"), std::nullopt);
}

TEST_F(CompiledFilesTest, OfNoElfFileAreNone) {
  folder_.Run("echo '#!/bin/sh' > script");
  EXPECT_EQ(CompiledFiles(folder_.path() / "script").Find("a.cpp"), std::nullopt);
}

}  // namespace
}  // namespace leakgate
