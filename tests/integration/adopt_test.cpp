// A suite that leaks is adopted: green from then on, in any order, and red for what is new.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/integration/both_modes.h"
#include "tests/support/command.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class AdoptTest : public BothModes {
 protected:
  static CommandResult Adopt(const std::string& baseline, std::vector<std::string> what) {
    what.insert(what.begin(), {"adopt", "--prove", "-o", baseline});
    return Leakgate(what);
  }
  static int Gate(const std::string& baseline, std::vector<std::string> program) {
    program.insert(program.begin(), {"run", "--baseline", baseline, "--"});
    return Leakgate(program).exit_code;
  }
};

TEST_P(AdoptTest, GateIsGreenInAnyOrderAndRedForWhatIsNew) {
  const TemporaryDirectory directory;
  const std::string baseline = directory.File("baseline.json");
  const std::string binary = Fixture("many_causes");
  const std::string some = "--gtest_filter=All/Many.LeaveSomething/?";
  const CommandResult adopted = Adopt(baseline, {"--", binary, some});
  EXPECT_EQ(adopted.exit_code, 0) << adopted.standard_error;
  EXPECT_THAT(adopted.standard_error,
              AllOf(HasSubstr("accepts 5 causes:"), HasSubstr("2 tests  net::LoseArray ("),
                    HasSubstr("green with it, 2 times in a row"),
                    HasSubstr("proved: 1234 bytes that were planted in All/Many.LeaveSomething/0"),
                    HasSubstr("leakgate run --baseline " + baseline + " -- " + binary),
                    HasSubstr("leakgate_discover_tests(TARGET LEAKGATE_ARGS --baseline ")));
  for (const char* const seed : {"11", "12", "13", "14", "15"}) {
    EXPECT_EQ(Gate(baseline,
                   {binary, some, "--gtest_shuffle", "--gtest_random_seed=" + std::string(seed)}),
              0)
        << seed;
  }
  EXPECT_EQ(Gate(baseline, {Fixture("kinds"), "--gtest_filter=Kinds.Malloc"}), 1);

  const CommandResult again = Adopt(baseline, {"--", binary});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.standard_error, HasSubstr("exists already; remove it to accept anew"));
}

// Each test of CTest's is a process of its own, with its own working directory and environment.
TEST_P(AdoptTest, TakesTheTestsOfACtestFolder) {
  const TemporaryDirectory directory;
  const std::string binary = Fixture("kinds");
  directory.Write("CTestTestfile.cmake",
                  "add_test(malloc \"" + binary + "\" --gtest_filter=Kinds.Malloc)\n" +
                      "add_test(new \"" + binary + "\" --gtest_filter=Kinds.New)\n" +
                      "add_test(other /bin/true)\n");
  const std::string baseline = directory.File("baseline.json");
  const CommandResult adopted = Adopt(baseline, {directory.path()});
  EXPECT_EQ(adopted.exit_code, 0) << adopted.standard_error;
  EXPECT_THAT(
      adopted.standard_error,
      AllOf(HasSubstr("left out 1 test that no GoogleTest binary runs"),
            HasSubstr("running " + binary + " in 2 processes"), HasSubstr("accepts 2 causes")));
  EXPECT_EQ(Gate(baseline, {binary, "--gtest_filter=Kinds.Malloc:Kinds.New"}), 0);
  EXPECT_EQ(Gate(baseline, {binary, "--gtest_filter=Kinds.Calloc"}), 1);
}

TEST_P(AdoptTest, SaysOfACleanSuiteThatTheGateNeedsNoFile) {
  const TemporaryDirectory directory;
  const CommandResult adopted =
      Adopt(directory.File("baseline.json"),
            {"--", Fixture("kinds"), "--gtest_filter=Kinds.ReallocToNothingFrees"});
  EXPECT_EQ(adopted.exit_code, 0) << adopted.standard_error;
  EXPECT_THAT(adopted.standard_error,
              AllOf(HasSubstr("baseline.json: nothing had to be accepted"),
                    HasSubstr("The tests leave nothing behind, and whatever they leave from now "
                              "on fails:\n  leakgate run -- " +
                              Fixture("kinds") + "\n"),
                    HasSubstr("leakgate_discover_tests(TARGET)")));
}

TEST_P(AdoptTest, TellsWhatNoBaselineMakesGreen) {
  const TemporaryDirectory directory;
  const CommandResult adopted =
      Adopt(directory.File("baseline.json"), {"--", Fixture("features"), "--gtest_filter=*Fails*"});
  EXPECT_NE(adopted.exit_code, 0);
  EXPECT_THAT(adopted.standard_error, Not(HasSubstr("green with it")));
}

LEAKGATE_IN_BOTH_MODES(AdoptTest);

TEST(AdoptUsageTest, TellsBeforeAnythingRuns) {
  const TemporaryDirectory directory;
  const std::string baseline = directory.File("baseline.json");
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& why) {
    std::vector<std::string> all = arguments;
    all.insert(all.begin(), "adopt");
    if (arguments.size() < 2) all.insert(all.end(), {"-o", baseline});
    const CommandResult result = Leakgate(all);
    EXPECT_EQ(result.exit_code, 2) << result.standard_error;
    EXPECT_THAT(result.standard_error, HasSubstr(why));
    EXPECT_FALSE(std::filesystem::exists(baseline));
  };
  refused({}, "nothing to adopt; name test binaries or a CTest build folder");
  refused({"no_such_binary"}, "no_such_binary");
  refused({"/bin/true"}, "/bin/true: no GoogleTest binary that can be gated; leakgate doctor");
  refused({directory.path()}, "no test of CTest's runs a binary of GoogleTest's");
  refused({"-o", directory.File("none/b.json"), "/bin/true"}, "its directory does not exist");
}

}  // namespace
}  // namespace leakgate::test
