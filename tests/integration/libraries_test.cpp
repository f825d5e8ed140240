// Code in shared libraries, and operators that replace the runtime's.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

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
  EXPECT_EQ(OutcomeOf(RunTests("libraries", "None.*").Window("program", "libraries_" + GetParam())),
            Reported({{302, 1, "malloc", "__static_initialization_and_destruction_0",
                       PlaceOf("leaky_library.cpp", "library's initialiser")}}));
}

LEAKGATE_IN_BOTH_MODES(LibrariesTest);

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

}  // namespace
}  // namespace leakgate::test
