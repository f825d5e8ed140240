#include "runner/cli/commands/gate_instructions.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "runner/base/path_text.h"
#include "tests/support/command.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(GateInstructionsTest, NameTheFilesThatThereAre) {
  EXPECT_EQ(GateInstructions({}, {"build/a"}),
            "  leakgate run -- build/a\n"
            "In CMakeLists.txt, each test gated:\n  leakgate_discover_tests(TARGET)\n");
  const std::string both =
      GateInstructions({.budgets = "/p/src", .baseline = "/p/b.json"}, {"build/a"});
  EXPECT_THAT(both, HasSubstr("leakgate run --budgets /p/src --baseline /p/b.json -- build/a\n"));
  EXPECT_THAT(both, HasSubstr("(TARGET BUDGETS /p/src LEAKGATE_ARGS --baseline /p/b.json)\n"));
}

TEST(GateInstructionsTest, CountTheBinariesThatTheyDoNotName) {
  EXPECT_THAT(GateInstructions({}, {"a", "b", "c", "d"}),
              HasSubstr("-- c\nand the same for 1 more binary\n"));
  EXPECT_THAT(GateInstructions({}, {"a", "b", "c", "d", "e"}), HasSubstr("2 more binaries\n"));
}

TEST(CmakePathTest, IsBelowTheProjectSoThatOthersCanUseIt) {
  const test::TemporaryDirectory project;
  fs::create_directories(project.File("lib/net"));
  project.Write("CMakeLists.txt", "");
  project.Write("lib/CMakeLists.txt", "");
  EXPECT_EQ(CmakePath("b.json", project.path()), "${CMAKE_SOURCE_DIR}/b.json");
  EXPECT_EQ(CmakePath(".", project.path()), "${CMAKE_SOURCE_DIR}");
  EXPECT_EQ(CmakePath("net/", project.File("lib")), "${CMAKE_SOURCE_DIR}/lib/net");
  EXPECT_EQ(CmakePath("../b.json", project.path()),
            PathText(fs::path(project.path()).parent_path()) + "/b.json");
  EXPECT_EQ(CmakePath("b.json", project.File("lib/net")), project.File("lib/net/b.json"));
}

}  // namespace
}  // namespace leakgate
