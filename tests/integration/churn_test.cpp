// `--stacks ..,churn`: what was allocated and freed between two snapshots, by call site, against
// what the program has counted itself.
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/command.h"
#include "tests/support/heap_on_request.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

class ChurnTest : public testing::Test {
 protected:
  ~ChurnTest() override { Leakgate({"session", "stop", session_}); }

  HeapOnRequest Start(const std::string& stacks) const {
    return HeapOnRequest(HeapOnRequest::InSession{session_, "churning", {"--stacks", stacks}});
  }
  std::string Take(const HeapOnRequest& program) {
    std::string file = directory_.File(std::to_string(++taken_) + ".snapshot");
    const CommandResult taken = Leakgate(
        {"snapshot", "take", "--pid", std::to_string(program.pid()), "--consistent", "-o", file});
    EXPECT_EQ(taken.exit_code, 0) << taken.standard_error;
    return file;
  }
  static Json Churn(const std::string& before, const std::string& after) {
    return Json::parse(
        Leakgate({"snapshot", "diff", before, after, "--json"}).standard_output)["churn"];
  }
  // The churn of a function of the fixture.
  static Json Of(const Json& churn, const std::string& function) {
    Json sum;
    for (const Json& site : churn["sites"]) {
      if (!site["name"].get<std::string>().starts_with("churning::" + function + "(")) continue;
      for (const char* key : {"allocated", "freed", "allocated_and_freed"}) {
        for (const char* number : {"bytes", "blocks"}) {
          const std::int64_t before = sum[key].is_null() ? 0 : sum[key].value(number, 0L);
          sum[key][number] = before + site[key][number].get<std::int64_t>();
        }
      }
    }
    return sum;
  }

  const TemporaryDirectory directory_;
  const std::string session_ = "churn-" + std::to_string(::getpid());
  int taken_ = 0;
};

// Each thread allocates, grows and frees what it likes, of others' and of earlier rounds', too.
TEST_F(ChurnTest, IsWhatTheProgramCounts) {
  HeapOnRequest program = Start("alloc,realloc,churn");
  std::string before = Take(program);
  for (int round = 1; round <= 4; ++round) {
    const std::string file = directory_.File("counted");
    program.Do("run " + std::to_string(round) + ' ' + file + '\n');
    const std::string after = Take(program);
    const Json churn = Churn(before, after);
    std::ifstream counted(file);
    std::string name;
    for (long bytes[3], blocks[3]; counted >> name >> bytes[0] >> blocks[0] >> bytes[1] >>
                                   blocks[1] >> bytes[2] >> blocks[2];) {
      const auto amount = [&](int i) { return Json{{"bytes", bytes[i]}, {"blocks", blocks[i]}}; };
      const Json told = Of(churn, name);
      EXPECT_EQ(told["allocated"], amount(0)) << name << " in round " << round;
      EXPECT_EQ(told["freed"], amount(1)) << name << " in round " << round;
      EXPECT_EQ(told["allocated_and_freed"], amount(2)) << name << " in round " << round;
    }
    EXPECT_EQ(name, "Grow");
    before = after;
  }
}

TEST_F(ChurnTest, LeavesATraceOfWhatWasFreed) {
  HeapOnRequest program = Start("alloc,realloc,churn");
  const std::string before = Take(program);
  program.Do("temporary\n");
  const std::string after = Take(program);
  EXPECT_EQ(Of(Churn(before, after), "Temporary")["allocated_and_freed"],
            (Json{{"bytes", 40 << 20}, {"blocks", 40}}));
  EXPECT_THAT(Leakgate({"snapshot", "diff", before, after}).standard_output,
              AllOf(HasSubstr("\nAllocated and freed in between, by counters\n"),
                    HasSubstr("\n  both       40.0 MiB in 40 blocks\n"),
                    ContainsRegex("  40.0 MiB +41943040 +40 +40.0 MiB +40.0 MiB  "
                                  "churning::Temporary\\(\\)")));
  EXPECT_THAT(Leakgate({"snapshot", "diff", before, after, "--filter", "nobody"}).standard_output,
              Not(HasSubstr("Temporary")));
}

TEST_F(ChurnTest, SaysThatItIsCounted) {
  HeapOnRequest program = Start("alloc,realloc,churn");
  EXPECT_THAT(Leakgate({"session", "query", session_}).standard_output,
              HasSubstr("stacks of alloc, realloc, churn\n"));
  EXPECT_THAT(Leakgate({"snapshot", "show", Take(program)}).standard_output,
              HasSubstr("stacks     taken of alloc, realloc; not of free; what each has allocated "
                        "is counted (churn)\n"));
}

// Counted besides each event that a recording has, and besides frees by stack.
TEST_F(ChurnTest, IsCountedBesidesAllElse) {
  HeapOnRequest program(HeapOnRequest::InSession{
      session_,
      "churning",
      {"--stacks", "alloc,realloc,free,churn", "--record", directory_.File("recordings")}});
  const std::string before = Take(program);
  program.Do("temporary\n");
  EXPECT_EQ(Of(Churn(before, Take(program)), "Temporary")["allocated"],
            (Json{{"bytes", 40 << 20}, {"blocks", 40}}));
}

TEST_F(ChurnTest, IsLeftOutWhereItIsNotCounted) {
  HeapOnRequest program = Start("alloc,realloc,free");
  const std::string before = Take(program);
  program.Do("temporary\n");
  const std::string after = Take(program);
  EXPECT_TRUE(Churn(before, after).is_null());
  EXPECT_THAT(Leakgate({"snapshot", "diff", before, after}).standard_output,
              Not(HasSubstr("Allocated and freed")));
}

}  // namespace
}  // namespace leakgate::test
