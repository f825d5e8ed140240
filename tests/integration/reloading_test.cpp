// Stacks through libraries that are mapped where others were: each is told as the
// library that was there at the time.
#include <gmock/gmock.h>

#include <map>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

class ReloadingTest : public BothModes {
 protected:
  // The blocks of each library's function, where the stack is whole.
  static std::map<std::string, long> BlocksByFunction(const nlohmann::json& test) {
    std::map<std::string, long> blocks;
    for (const nlohmann::json& finding : test["findings"]) {
      const nlohmann::json& innermost = finding["stack"][0];
      const std::filesystem::path module = innermost["module"].get<std::string>();
      const std::string function = innermost["function"];
      if (finding.contains("framework_rule") || finding["stack_end"] != "outermost") continue;
      blocks[module.filename().string() + " " + function] += finding["blocks"].get<long>();
    }
    return blocks;
  }

  static void ExpectEachLibrarysOwn(const std::string& test) {
    const GatedRun run = RunTests("reloading", "Reloading." + test);
    ASSERT_THAT(run.command.standard_output, Not(HasSubstr("were not mapped")));
    EXPECT_THAT(BlocksByFunction(run.Test("Reloading." + test)),
                UnorderedElementsAre(Pair("libreused_range_Red.so LeakInRed", 20),
                                     Pair("libreused_range_Tan.so LeakInTan", 20),
                                     Pair("libreused_range_Sky.so LeakInSky", 20)));
  }
};

TEST_P(ReloadingTest, TellsLibrariesApartThatWereAtTheSameAddresses) {
  ExpectEachLibrarysOwn("LeaksInLibrariesAtTheSameAddresses");
}

TEST_P(ReloadingTest, TellsThemApartOnAThreadThatUnloadedNone) {
  ExpectEachLibrarysOwn("LeaksThereOnAThreadThatUnloadsNothing");
}

LEAKGATE_IN_BOTH_MODES(ReloadingTest);

}  // namespace
}  // namespace leakgate::test
