// A suite whose sources lie in folders of components is adopted with a budget file for each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/command.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kNet = R"(
#include <gtest/gtest.h>
#include <cstdlib>
namespace net {
volatile void* g_last;
[[gnu::noinline]] void Lose(int size) { g_last = std::malloc(size); g_last = nullptr; }
}
TEST(Http, LosesOne) { net::Lose(10); }
TEST(Http, LosesTwo) { net::Lose(10); net::Lose(20); }
#ifdef LATER
TEST(Http, LosesLater) { net::Lose(10); }
#endif
class Sizes : public testing::TestWithParam<int> {};
TEST_P(Sizes, Lose) { if (GetParam() % 2) net::Lose(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, Sizes, testing::Range(0, 6));
)";

constexpr const char* kDisk = R"(
#include <gtest/gtest.h>
#include <string>
#include <vector>
std::vector<std::string*> g_kept;
volatile void* g_lost;
[[gnu::noinline]] void KeepMore() { g_kept.push_back(new std::string(100, 'x')); }
[[gnu::noinline]] void LoseOnce() {
  static bool is_done = false;
  if (!is_done) g_lost = new char[77];
  is_done = true;
  g_lost = nullptr;
}
struct Disk : testing::Test {
  static void SetUpTestSuite() { g_lost = new int[5]; g_lost = nullptr; }
};
TEST_F(Disk, Grows) { KeepMore(); }
TEST_F(Disk, OnceA) { LoseOnce(); }
TEST_F(Disk, OnceB) { LoseOnce(); }
TEST_F(Disk, OnceC) { LoseOnce(); }
TEST(Errors, Mismatch) {
  char* text = new char[5];
  asm volatile("" : "+r"(text));
  delete text;
}
)";

class AdoptComponentsTest : public testing::Test {
 protected:
  AdoptComponentsTest() {
    fs::create_directories(directory_.File("src/net"));
    fs::create_directories(directory_.File("src/disk"));
    directory_.Write("src/net/http_test.cc", kNet);
    directory_.Write("src/disk/disk_test.cc", kDisk);
    directory_.Write("CODEOWNERS", "/src/net/ @team-net\n");
    Build("net_test", {"src/net/http_test.cc"});
    Build("all_test", {"src/net/http_test.cc", "src/disk/disk_test.cc"});
  }

  void Build(const std::string& name, const std::vector<std::string>& sources,
             const std::string& option = "-DNOW") const {
    std::vector<std::string> command = {"c++", "-w", "-g", option, "-o", directory_.File(name)};
    for (const std::string& source : sources) command.push_back(directory_.File(source));
    command.insert(command.end(), {"-lgtest_main", "-lgtest", "-pthread"});
    const CommandResult built = RunCommand(command);
    ASSERT_EQ(built.exit_code, 0) << built.standard_error;
  }
  CommandResult Adopt(const std::vector<std::string>& what) const {
    std::vector<std::string> arguments = {"adopt", "--prove", "--budgets", directory_.File("src"),
                                          "-o",    Baseline()};
    arguments.insert(arguments.end(), what.begin(), what.end());
    return Leakgate(arguments);
  }
  CommandResult Gate(const std::string& binary, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"run", "--budgets", directory_.File("src")};
    if (fs::exists(Baseline())) arguments.insert(arguments.end(), {"--baseline", Baseline()});
    arguments.insert(arguments.end(), {"--", directory_.File(binary)});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Leakgate(arguments);
  }
  std::string Baseline() const { return directory_.File("baseline.json"); }

  const TemporaryDirectory directory_;
};

TEST_F(AdoptComponentsTest, GateIsGreenInAnyOrderAndRedForWhatIsNew) {
  const CommandResult adopted = Adopt({"--", directory_.File("all_test")});
  EXPECT_EQ(adopted.exit_code, 0) << adopted.standard_error;
  EXPECT_THAT(adopted.standard_error,
              AllOf(HasSubstr("src/net/net.leakgate.json (component net, owner @team-net) accepts"),
                    HasSubstr("5 tests  net::Lose ("),
                    HasSubstr("src/disk/disk.leakgate.json (component disk) accepts 3 causes:"),
                    HasSubstr("the baseline has what no component's budget can"),
                    HasSubstr("5 B allocated by new[] and freed by delete"),
                    HasSubstr("green with it, 2 times in a row"),
                    HasSubstr("proved: 1234 bytes that were planted in "),
                    HasSubstr("leakgate run --budgets " + directory_.File("src") + " --baseline " +
                              Baseline() + " -- " + directory_.File("all_test")),
                    HasSubstr("leakgate_discover_tests(TARGET BUDGETS " + directory_.File("src") +
                              " LEAKGATE_ARGS --baseline " + Baseline() + ")")));
  for (const char* const seed : {"11", "12", "13", "14", "15"}) {
    const CommandResult gated =
        Gate("all_test", {"--gtest_shuffle", "--gtest_random_seed=" + std::string(seed)});
    EXPECT_EQ(gated.exit_code, 0) << seed << gated.standard_error;
  }
  // The files serve a binary that has a part of the tests, and tell it nothing of the others.
  const CommandResult other = Gate("net_test");
  EXPECT_EQ(other.exit_code, 0) << other.standard_error;
  EXPECT_THAT(other.standard_error, Not(HasSubstr("was not used")));

  Build("net_test", {"src/net/http_test.cc"}, "-DLATER");
  const CommandResult later = Gate("net_test");
  EXPECT_EQ(later.exit_code, 1);
  EXPECT_THAT(later.standard_error, AllOf(HasSubstr("Failure in Http.LosesLater"),
                                          HasSubstr("net  10 B in 1 block lost")));
  EXPECT_EQ(Gate("net_test", {"--gtest_filter=-*Later"}).exit_code, 0);
}

TEST_F(AdoptComponentsTest, NoBaselineIsWrittenWhereBudgetsHaveAll) {
  const CommandResult adopted = Adopt({"--", directory_.File("net_test")});
  EXPECT_EQ(adopted.exit_code, 0) << adopted.standard_error;
  EXPECT_FALSE(fs::exists(Baseline()));
  EXPECT_FALSE(fs::exists(directory_.File("src/disk/disk.leakgate.json")));
  EXPECT_THAT(adopted.standard_error, AllOf(Not(HasSubstr("baseline")),
                                            HasSubstr("leakgate_discover_tests(TARGET BUDGETS " +
                                                      directory_.File("src") + ")\n")));
  EXPECT_EQ(Gate("net_test").exit_code, 0);
}

TEST_F(AdoptComponentsTest, ABaselineHasAllWhereNoComponentCanBeTold) {
  const TemporaryDirectory elsewhere;
  const CommandResult adopted = Leakgate({"adopt", "--budgets", elsewhere.path(), "-o", Baseline(),
                                          "--", directory_.File("net_test")});
  EXPECT_EQ(adopted.exit_code, 0) << adopted.standard_error;
  EXPECT_THAT(adopted.standard_error,
              AllOf(HasSubstr("so no component can be told: a baseline has all"),
                    HasSubstr("leakgate run --baseline " + Baseline() + " -- ")));
  EXPECT_TRUE(fs::exists(Baseline()));
  EXPECT_TRUE(fs::is_empty(elsewhere.path()));
}

TEST_F(AdoptComponentsTest, TellsBeforeAnyTestRuns) {
  const std::string ours =
      directory_.Write("src/disk/ours.leakgate.json", R"({"component": "ours"})");
  const CommandResult adopted = Adopt({"--", directory_.File("net_test")});
  EXPECT_EQ(adopted.exit_code, 2);
  EXPECT_THAT(adopted.standard_error,
              AllOf(HasSubstr(ours + ": exists already, and adopt writes budget files only where"),
                    Not(HasSubstr("running"))));
  EXPECT_EQ(ReadFile(ours), R"({"component": "ours"})");
  EXPECT_FALSE(fs::exists(Baseline()));

  const CommandResult none =
      Leakgate({"adopt", "--budgets", directory_.File("none"), "--", directory_.File("net_test")});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.standard_error, HasSubstr("no such directory; name the one with the sources"));
}

}  // namespace
}  // namespace leakgate::test
