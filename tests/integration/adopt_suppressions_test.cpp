// A suite that has lived with LeakSanitizer or valgrind is adopted with the suppressions of that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/command.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr const char* kTests = R"(
#include <gtest/gtest.h>
#include <cstdlib>
#include <cstring>
volatile void* g_last;
struct Node { Node* next; char text[40]; };
namespace net {
[[gnu::noinline]] void Lose(int size) { g_last = std::malloc(size); g_last = nullptr; }
[[gnu::noinline]] void LoseList() {
  Node* const first = new Node{new Node{}, ""};
  g_last = first;
  g_last = nullptr;
}
}
TEST(Http, LosesOne) { net::Lose(10); }
TEST(Http, LosesTwo) { net::Lose(10); net::Lose(20); }
TEST(Http, LosesAList) { net::LoseList(); }
TEST(Http, LosesACopy) { g_last = strdup("a text of some length"); g_last = nullptr; }
#ifdef LATER
TEST(Http, LosesLater) { net::Lose(10); }
#endif
)";

constexpr const char* kOfValgrind = R"({
   lost by net
   Memcheck:Leak
   match-leak-kinds: definite
   fun:malloc
   fun:_ZN3net4LoseEi
   fun:_ZN18Http_LosesTwo_Test8TestBodyEv
}
{
   a list
   Memcheck:Leak
   match-leak-kinds: definite
   fun:_Znwm
   fun:_ZN*LoseList*
   ...
   fun:main
}
{
   a copy
   Memcheck:Leak
   fun:malloc
   fun:strdup
   obj:*/net_test
}
{
   not initialised
   Memcheck:Cond
   fun:strlen
}
)";

class AdoptSuppressionsTest : public testing::Test {
 protected:
  AdoptSuppressionsTest() { Build("-DNOW"); }

  void Build(const std::string& option) const {
    directory_.Write("src/net_test.cc", kTests);
    const CommandResult built =
        RunCommand({"c++", "-w", "-g", option, "-o", Binary(), directory_.File("src/net_test.cc"),
                    "-lgtest_main", "-lgtest", "-pthread"});
    ASSERT_EQ(built.exit_code, 0) << built.standard_error;
  }
  CommandResult Adopt(const std::string& suppressions, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"adopt", "--prove", "-o", Baseline(), "--suppressions",
                               directory_.Write("a.supp", suppressions)});
    more.insert(more.end(), {"--", Binary()});
    return Leakgate(more);
  }
  int Gate() const {
    std::vector<std::string> arguments = {"run", "--budgets", Suppressed()};
    if (fs::exists(Baseline())) arguments.insert(arguments.end(), {"--baseline", Baseline()});
    arguments.insert(arguments.end(), {"--", Binary()});
    return Leakgate(arguments).exit_code;
  }
  std::string Binary() const { return directory_.File("net_test"); }
  std::string Baseline() const { return directory_.File("baseline.json"); }
  std::string Suppressed() const { return directory_.File("suppressed.leakgate.json"); }
  // The reasons of a budget file's allowances, "TEST: REASON", without the folder.
  std::vector<std::string> ReasonsIn(const std::string& file) const {
    std::vector<std::string> reasons;
    const nlohmann::json budget = nlohmann::json::parse(ReadFile(file));
    for (const nlohmann::json& entry : budget.at("allowances")) {
      std::string reason = entry.at("reason");
      const std::size_t at = reason.find(directory_.path());
      if (at == 0) reason.erase(0, directory_.path().size() + 1);
      reasons.push_back(entry.at("tests").at(0).get<std::string>() + ": " + reason);
    }
    return reasons;
  }

  const TemporaryDirectory directory_;
};

TEST_F(AdoptSuppressionsTest, OfLeakSanitizerBecomeAllowancesOfWhatIsSeen) {
  const CommandResult adopted = Adopt("# ours\r\nleak:net::Lose\r\nleak:libold.so\r\n");
  EXPECT_EQ(adopted.exit_code, 0) << adopted.standard_error;
  EXPECT_THAT(ReasonsIn(Suppressed()),
              UnorderedElementsAre("Http.LosesOne: a.supp:2 (leak:net::Lose)",
                                   "Http.LosesTwo: a.supp:2 (leak:net::Lose)",
                                   "Http.LosesAList: a.supp:2 (leak:net::Lose)"));
  EXPECT_THAT(adopted.standard_error,
              AllOf(HasSubstr("suppressed.leakgate.json (component suppressed) accepts 2 causes:"),
                    HasSubstr("the baseline has what no suppression covers"),
                    HasSubstr("a.supp:3 (leak:libold.so) is not taken over: it matches nothing "
                              "that fails"),
                    HasSubstr("leakgate run --budgets " + Suppressed() + " --baseline ")));
  EXPECT_EQ(Gate(), 0);
  Build("-DLATER");
  EXPECT_EQ(Gate(), 1) << "a suppression would have let it pass";
}

TEST_F(AdoptSuppressionsTest, OfValgrindAreTakenOverByTheirFrames) {
  const CommandResult adopted = Adopt(kOfValgrind);
  EXPECT_EQ(adopted.exit_code, 0) << adopted.standard_error;
  EXPECT_THAT(ReasonsIn(Suppressed()), UnorderedElementsAre("Http.LosesTwo: a.supp:1 (lost by net)",
                                                            "Http.LosesAList: a.supp:9 (a list)",
                                                            "Http.LosesACopy: a.supp:18 (a copy)"));
  EXPECT_THAT(
      adopted.standard_error,
      AllOf(HasSubstr("a.supp:25 (not initialised) is not taken over: Memcheck:Cond is not about"),
            HasSubstr("baseline.json accepts 1 cause:")));
  EXPECT_EQ(Gate(), 0);
}

TEST_F(AdoptSuppressionsTest, GoIntoTheFilesOfComponents) {
  const CommandResult adopted = Adopt("leak:net::Lose\n", {"--budgets", directory_.File("src")});
  EXPECT_EQ(adopted.exit_code, 0) << adopted.standard_error;
  EXPECT_FALSE(fs::exists(Suppressed()));
  EXPECT_FALSE(fs::exists(Baseline()));
  EXPECT_THAT(ReasonsIn(directory_.File("src/src.leakgate.json")),
              UnorderedElementsAre("Http.LosesOne: a.supp:1 (leak:net::Lose)",
                                   "Http.LosesTwo: a.supp:1 (leak:net::Lose)",
                                   "Http.LosesAList: a.supp:1 (leak:net::Lose)",
                                   HasSubstr("Http.LosesACopy: found by leakgate adopt")));
}

TEST_F(AdoptSuppressionsTest, NoFileIsWrittenWhereNoneIsNeeded) {
  const CommandResult adopted = Adopt("leak:libold.so\n");
  EXPECT_EQ(adopted.exit_code, 0) << adopted.standard_error;
  EXPECT_FALSE(fs::exists(Suppressed()));
  EXPECT_THAT(adopted.standard_error, AllOf(HasSubstr("leak:libold.so) is not taken over"),
                                            HasSubstr("leakgate run --baseline "),
                                            Not(HasSubstr("suppressed.leakgate.json"))));
}

TEST_F(AdoptSuppressionsTest, WhatCannotBeReadIsToldBeforeAnyTestRuns) {
  const auto refused = [](const CommandResult& result, const std::string& why) {
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.standard_error, AllOf(HasSubstr(why), Not(HasSubstr("running"))));
  };
  refused(Adopt("leak:a\n?\n"), "a.supp:2: not a suppression of LeakSanitizer's; write leak:");
  refused(Adopt(""), "a.supp: no suppressions; LeakSanitizer's have lines such as leak:PATTERN");
  refused(Leakgate({"adopt", "--suppressions", directory_.File("none"), "--", Binary()}),
          "none: cannot be read: No such file or directory; name a file of suppressions");
  directory_.Write("suppressed.leakgate.json", "");
  refused(Adopt("leak:a\n"), "suppressed.leakgate.json: exists already; remove it");
  EXPECT_FALSE(fs::exists(Baseline()));
}

}  // namespace
}  // namespace leakgate::test
