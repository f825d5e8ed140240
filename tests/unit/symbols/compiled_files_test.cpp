// Files that the compiler was given by relative names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/symbols/debug_facts.h"
#include "tests/unit/symbols/compiled_library.h"

namespace leakgate {
namespace {

using testing::Optional;

// A library of src/net/a.cpp, as a build in the folder `build` makes it.
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

// As where each folder is a build of its own.
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
