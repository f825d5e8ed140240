// Code in shared libraries: linked, loaded, loaded late, unloaded and replaced by another.
#include <gmock/gmock.h>

#include <map>

#include "tests/integration/both_modes.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::Ge;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

// Code in shared libraries, and operators that replace the runtime's.

class LibrariesTest : public BothModes {
 protected:
  static Outcome OutcomeIn(const std::string& test) {
    return OutcomeOfTest("libraries", "Libraries." + test);
  }
  static Outcome PluginLeak() {
    return OverBudget({{303, 1, "malloc", "LeakInPlugin", PlaceOf("leaky_plugin.cpp", "plugin")}});
  }
};

TEST_P(LibrariesTest, LinkedLibrarysLeakNamesItsLine) {
  EXPECT_EQ(
      OutcomeIn("LinkedLibraryLeaks"),
      OverBudget({{301, 1, "malloc", "LeakInLibrary()", PlaceOf("leaky_library.cpp", "library")}}));
}

TEST_P(LibrariesTest, SeesWhatGLibWouldKeepInPools) {
  const std::string name = "Libraries.LosesWhatGLibAllocates";
  const nlohmann::json test =
      RunByDefault({Fixture("libraries"), "--gtest_filter=" + name}).Test(name);
  if (test["test_result"] == "skipped") GTEST_SKIP() << "GLib is not here";
  EXPECT_EQ(test["lost"]["blocks"], 2);
}

TEST_P(LibrariesTest, PassesWhatTheProgramFreesForTheLibrary) {
  EXPECT_EQ(OutcomeIn("ProgramFreesWhatTheLibraryAllocated"), Pass());
}

// Its initialiser's block is still held, too: it is freed when it is unloaded.
TEST_P(LibrariesTest, LoadedLibrarysLeakNamesItsLine) {
  const Leak initialiser{304, 1, "malloc", "AtLoad::AtLoad()",
                         PlaceOf("leaky_plugin.cpp", "plugin's initialiser")};
  EXPECT_EQ(OutcomeIn("LoadedLibraryLeaks"), OverBudget({initialiser, PluginLeak().leaks.front()}));
}

TEST_P(LibrariesTest, UnloadedLibrarysLeakStillNamesItsLine) {
  EXPECT_EQ(OutcomeIn("UnloadedLibraryLeaked"), PluginLeak());
}

TEST_P(LibrariesTest, LoadingAndUnloadingIsFree) {
  EXPECT_EQ(OutcomeIn("LoadingAndUnloadingFreesAll"), Pass());
}

TEST_P(LibrariesTest, LibrarysInitialiserBelongsToTheProgram) {
  const GatedRun run = RunTests("libraries", "None.*", {"--verbose", "--allow-no-tests"});
  EXPECT_EQ(OutcomeOf(run.Window("program", "libraries_" + GetParam())),
            With("pass", {{302, 1, "malloc", "__static_initialization_and_destruction_0",
                           PlaceOf("leaky_library.cpp", "library's initialiser")}}));
}

LEAKGATE_IN_BOTH_MODES(LibrariesTest);

// Calls that pass by what stands in front of malloc.
class BypassesTest : public BothModes {
 protected:
  static Outcome OutcomeIn(const std::string& test) { return OutcomeOfTest("bypasses", test); }
  // The plugin's initialiser has a block, too, as long as the plugin is loaded.
  static Outcome PluginLeak() {
    return OverBudget({{304, 1, "malloc", "AtLoad::AtLoad()",
                        PlaceOf("leaky_plugin.cpp", "plugin's initialiser")},
                       {303, 1, "malloc", "LeakInPlugin", PlaceOf("leaky_plugin.cpp", "plugin")}});
  }
};

TEST_P(BypassesTest, AreSeenOfALibraryThatBindsDeeply) {
  EXPECT_EQ(OutcomeIn("DeepBinding.Leaks"), PluginLeak());
  EXPECT_EQ(OutcomeIn("DeepBinding.LeaksByACallThatIsBoundWhenItIsMade"), PluginLeak());
  EXPECT_EQ(OutcomeIn("DeepBinding.LeaksWhereTheFileIsNamed"), PluginLeak());
  // Beside what the dynamic linker has.
  EXPECT_THAT(OutcomeIn("DeepBinding.LeaksWhereTheNameSpaceIsNamed").leaks,
              IsSupersetOf(PluginLeak().leaks));
}

TEST_P(BypassesTest, AreSeenByTheCLibrarysOwnNames) {
  EXPECT_EQ(OutcomeIn("LibcsNames.Leak"),
            OverBudget({{321, 1, "malloc", "LibcsNames_Leak_Test::TestBody()",
                         PlaceOf("bypasses.cpp", "__libc_malloc")}}));
}

TEST_P(BypassesTest, AreSeenOfAFunctionThatIsFoundByHand) {
  EXPECT_EQ(OutcomeIn("FoundByHand.Leaks"),
            OverBudget({{331, 1, "malloc", "FoundByHand_Leaks_Test::TestBody()",
                         PlaceOf("bypasses.cpp", "malloc by hand")}}));
}

TEST_P(BypassesTest, PassWhereAllIsFreed) {
  for (const std::string test : {"DeepBinding.FreesAll", "LibcsNames.FreeAll",
                                 "FoundByHand.FreesAll", "Loading.FindsWhatItFindsAlone"}) {
    EXPECT_EQ(OutcomeIn(test), Pass()) << test;
  }
  EXPECT_FALSE(RunTests("bypasses").report.contains("free_errors"));
}

LEAKGATE_IN_BOTH_MODES(BypassesTest);

// Over {in the executable, in a library}.
class OwnNewTest : public BothModes {
 protected:
  static Outcome OutcomeIn(const std::string& test) {
    return OutcomeOf(SharedGatedRun({FixturePath(GetParam())}).Test("OwnNew." + test));
  }
};

TEST_P(OwnNewTest, LeakNamesTheUsersLine) {
  EXPECT_EQ(OutcomeIn("Leaks"), OverBudget({{72, 1, "new", "OwnNew_Leaks_Test::TestBody()",
                                             PlaceOf("own_new_tests.cpp", "own new")}}));
}

TEST_P(OwnNewTest, LeakOfAnArrayNamesTheUsersLine) {
  EXPECT_EQ(OutcomeIn("LeaksAnArray"),
            OverBudget({{401, 1, "new[]", "OwnNew_LeaksAnArray_Test::TestBody()",
                         PlaceOf("own_new_tests.cpp", "own new[]")}}));
}

TEST_P(OwnNewTest, PassesWhatIsDeleted) { EXPECT_EQ(OutcomeIn("Frees"), Pass()); }

INSTANTIATE_TEST_SUITE_P(Operators, OwnNewTest,
                         testing::Values("own_new_untouched", "own_new_listener",
                                         "own_new_in_library_untouched",
                                         "own_new_in_library_listener"),
                         [](const testing::TestParamInfo<std::string>& fixture) {
                           return fixture.param;
                         });

// Programs whose malloc and operator new are reached in unusual ways.

nlohmann::json FindingOf(const nlohmann::json& window, int bytes) {
  for (const nlohmann::json& finding : window["findings"]) {
    if (finding["bytes"] == bytes) return finding;
  }
  return nullptr;
}

TEST(LateRuntimeTest, TracesNewInAProgramThatLoadsTheCppRuntimeLater) {
  const GatedRun run =
      RunGated({FixturePath("late_runtime"), FixturePath("late_runtime_plugin.so")});
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
  EXPECT_EQ(run.command.standard_output, "done\n");
  EXPECT_EQ(FindingOf(run.Window("program", "late_runtime"), 123)["kind"], "new[]");
}

TEST(LateRuntimeTest, TracesAProgramThatKeepsMallocsAddress) {
  const GatedRun run = RunGated({FixturePath("malloc_by_address")});
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
  EXPECT_EQ(FindingOf(run.Window("program", "malloc_by_address"), 321)["kind"], "malloc");
}

// Stacks through libraries that are mapped where others were: each is told as the
// library that was there at the time.

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

TEST_P(ReloadingTest, TellsALibraryFromCodeThatTheProgramMadeThere) {
  const GatedRun run = RunTests("reloading", "Reloading.LeaksInALibraryWhereMadeCodeWas");
  ASSERT_THAT(run.command.standard_output, Not(HasSubstr("was not mapped")));
  EXPECT_THAT(BlocksByFunction(run.Test("Reloading.LeaksInALibraryWhereMadeCodeWas")),
              UnorderedElementsAre(Pair("libreused_range_Red.so LeakInRed", Ge(10))));
}

LEAKGATE_IN_BOTH_MODES(ReloadingTest);

// glibc tells of such a segment as if it were a module.
TEST(SegmentGapsTest, AreNoEndOfAStack) {
  for (const char* const name : {"segment_gaps", "segment_gaps_fixed"}) {
    const GatedRun run = RunByDefault({FixturePath(name), "--gtest_filter=Kinds.Malloc"});
    EXPECT_EQ(run.command.exit_code, 1);
    ASSERT_EQ(run.Test("Kinds.Malloc")["findings"].size(), 1U) << run.command.standard_output;
    const nlohmann::json finding = run.Test("Kinds.Malloc")["findings"][0];
    EXPECT_EQ(finding["stack_end"], "outermost") << name;
    EXPECT_EQ(finding["stack"][0]["function"], "Kinds_Malloc_Test::TestBody()") << name;
  }
}

}  // namespace
}  // namespace leakgate::test
