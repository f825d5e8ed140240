// `--stacks`: for which events stacks are recorded, and that everything is counted without.
#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/support/command.h"
#include "tests/support/heap_on_request.h"
#include "tests/support/leakgate_run.h"
#include "tests/support/public_copy.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Json = nlohmann::json;

constexpr const char* kNotTaken = "stack not taken (--stacks)";

class StackEventsTest : public testing::Test {
 protected:
  ~StackEventsTest() override { Leakgate({"session", "stop", session_}); }

  // A snapshot of the fixture after its end, in a session of `--stacks EVENTS`; none: as ever.
  std::string Snapshot(const std::string& events) {
    std::vector<std::string> start = {"session", "start", session_, "--image", "stack_events"};
    if (!events.empty()) start.insert(start.end(), {"--stacks", events});
    start.insert(start.end(), {"--", FixturePath("stack_events")});
    EXPECT_EQ(Leakgate(start).exit_code, 0);
    query_ = Leakgate({"session", "query", session_}).standard_output;
    process_ = Json::parse(
        Leakgate({"session", "query", session_, "--json"}).standard_output)["processes"][0];
    std::string file = directory_.File("of-" + events + ".snapshot");
    EXPECT_EQ(Leakgate({"session", "stop", session_, "-o", file}).exit_code, 0);
    return file;
  }
  static Json Show(const std::string& file) {
    return Json::parse(Leakgate({"snapshot", "show", file, "--json"}).standard_output);
  }
  // The row of the table `by` whose name begins so; null if there is none.
  static Json Row(const Json& shown, const std::string& by, const std::string& name) {
    for (const Json& table : shown["tables"]) {
      if (table["by"] != by) continue;
      for (const Json& row : table["rows"]) {
        if (row["name"].get<std::string>().starts_with(name)) return row;
      }
    }
    return nullptr;
  }
  static Json Amount(std::int64_t bytes, std::int64_t blocks) {
    return {{"bytes", bytes}, {"blocks", blocks}};
  }
  static Json AmountOf(const Json& row) {
    return row.is_null() ? row : Json{{"bytes", row["bytes"]}, {"blocks", row["blocks"]}};
  }

  const std::string session_ = "stacks-" + std::to_string(::getpid());
  const TemporaryDirectory directory_;
  std::string query_;
  Json process_;
};

TEST_F(StackEventsTest, TakesThoseOfAllocationsUnlessTold) {
  const Json shown = Show(Snapshot(""));
  EXPECT_THAT(query_, HasSubstr("stacks of alloc, realloc\n"));
  EXPECT_EQ(shown["snapshot"]["stacks"], (Json{"alloc", "realloc"}));
  EXPECT_EQ(AmountOf(Row(shown, "site", "events::Allocate(")), Amount(5000, 5));
  EXPECT_EQ(AmountOf(Row(shown, "site", "events::New(")), Amount(500, 1));
  EXPECT_EQ(AmountOf(Row(shown, "site", "events::Grow(")), Amount(3000, 1));
  EXPECT_TRUE(Row(shown, "site", kNotTaken).is_null());
  for (const Json& table : shown["tables"]) EXPECT_NE(table["by"], "freed-by");
}

TEST_F(StackEventsTest, TakesNone) {
  const Json shown = Show(Snapshot("none"));
  EXPECT_THAT(query_, HasSubstr("stacks of none\n"));
  EXPECT_EQ(shown["snapshot"]["stacks"], Json::array());
  EXPECT_EQ(shown["tables"][0]["rows"].size(), 1U);
  EXPECT_EQ(AmountOf(Row(shown, "site", kNotTaken)), shown["snapshot"]["live"]);
}

TEST_F(StackEventsTest, LeavesOutThoseOfAllocations) {
  const Json shown = Show(Snapshot("realloc"));
  EXPECT_EQ(AmountOf(Row(shown, "site", "events::Grow(")), Amount(3000, 1));
  EXPECT_TRUE(Row(shown, "site", "events::Allocate(").is_null());
  EXPECT_TRUE(Row(shown, "site", "events::New(").is_null());
  const Json others = Row(shown, "site", kNotTaken);
  ASSERT_FALSE(others.is_null());
  EXPECT_EQ(others["stack_end"], "not_taken");
  EXPECT_THAT(others["stack"], IsEmpty());
  EXPECT_GE(others["bytes"], 5500);
  EXPECT_EQ(others["blocks"].get<int>() + 1, shown["snapshot"]["live"]["blocks"]);
}

TEST_F(StackEventsTest, LeavesOutThoseOfReallocations) {
  const Json shown = Show(Snapshot("alloc"));
  EXPECT_EQ(AmountOf(Row(shown, "site", kNotTaken)), Amount(3000, 1));
  EXPECT_EQ(AmountOf(Row(shown, "site", "events::Allocate(")), Amount(5000, 5));
}

TEST_F(StackEventsTest, TellsWhoFrees) {
  const std::string file = Snapshot("alloc,realloc,free");
  const Json shown = Show(file);
  EXPECT_EQ(AmountOf(Row(shown, "freed-by", "events::Free(")), Amount(40 * 64, 40));
  EXPECT_EQ(AmountOf(Row(shown, "freed-by", "events::Delete(")), Amount(7 * 32, 7));
  EXPECT_EQ(AmountOf(Row(shown, "freed-by", "events::Grow(")), Amount(10, 1));
  // It failed, so nothing was freed.
  EXPECT_EQ(AmountOf(Row(shown, "freed-by", "events::FailToGrow(")), nullptr);
  EXPECT_EQ(AmountOf(Row(shown, "site", "events::Allocate(")), Amount(5000, 5));
  EXPECT_THAT(Leakgate({"snapshot", "show", file}).standard_output,
              AllOf(HasSubstr("stacks     taken of alloc, realloc, free\n"),
                    HasSubstr("\nFreed by\n"), HasSubstr("events::Free(void*)")));
  EXPECT_THAT(
      Leakgate({"snapshot", "show", file, "--group-by", "freed-by", "--filter", "events::Delete"})
          .standard_output,
      AllOf(HasSubstr("events::Delete(char*)"), Not(HasSubstr("events::Free("))));
}

// Each free counts for one stack, so that nothing is missing.
TEST_F(StackEventsTest, CountsEveryFreeByItsStack) {
  const Json shown = Show(Snapshot("free"));
  Json sum = Amount(0, 0);
  for (const Json& table : shown["tables"]) {
    if (table["by"] != "freed-by") continue;
    for (const Json& row : table["rows"]) {
      sum["bytes"] = sum["bytes"].get<int>() + row["bytes"].get<int>();
      sum["blocks"] = sum["blocks"].get<int>() + row["blocks"].get<int>();
    }
  }
  EXPECT_EQ(sum, shown["snapshot"]["freed"]);
  EXPECT_GE(sum["blocks"], 48);
}

TEST_F(StackEventsTest, CountsTheSameWithWhateverStacks) {
  Snapshot("");
  const Json expected = process_;
  for (const char* const events : {"alloc", "realloc", "free", "free,realloc,alloc"}) {
    Snapshot(events);
    EXPECT_EQ(process_["live"], expected["live"]) << events;
    EXPECT_EQ(process_["allocated"], expected["allocated"]) << events;
    EXPECT_EQ(process_["drops"], 0) << events;
  }
}

TEST_F(StackEventsTest, SaysInEachViewThatAStackWasNotTaken) {
  const std::string with = Snapshot("");
  const std::string without = Snapshot("free");
  EXPECT_THAT(query_, HasSubstr("stacks of free\n"));
  EXPECT_THAT(
      Leakgate({"snapshot", "show", without}).standard_output,
      AllOf(HasSubstr("stacks     taken of free; not of alloc, realloc\n"), HasSubstr(kNotTaken)));
  EXPECT_THAT(Leakgate({"snapshot", "show", without, "--view", "tree"}).standard_output,
              HasSubstr("(stack not taken: --stacks)"));
  EXPECT_THAT(Leakgate({"snapshot", "show", without, "--group-by", "module"}).standard_output,
              HasSubstr(kNotTaken));
  EXPECT_THAT(Leakgate({"snapshot", "diff", with, without}).standard_output, HasSubstr(kNotTaken));
  for (const char* const format : {"folded", "speedscope", "heaptrack"}) {
    EXPECT_THAT(Leakgate({"snapshot", "export", without, "--format", format}).standard_output,
                HasSubstr("[stack not taken]"))
        << format;
  }
  const Json json =
      Json::parse(Leakgate({"snapshot", "export", without, "--format", "json"}).standard_output);
  std::vector<std::string> ends;
  for (const Json& stack : json["stacks"]) ends.push_back(stack["end"]);
  EXPECT_THAT(ends, Contains("not_taken").Times(1));
  EXPECT_THAT(json["freed_by"], Not(IsEmpty()));
}

TEST_F(StackEventsTest, AreChosenOfARunningProcessToo) {
  HeapOnRequest program;
  const std::string pid = std::to_string(program.pid());
  ASSERT_EQ(Leakgate({"snapshot", "config", "--pid", pid, "--session", session_, "--stacks", "free",
                      "enable"})
                .exit_code,
            0);
  program.Keep(10, 777);
  program.Drop(4);
  const std::string file = directory_.File("attached.snapshot");
  ASSERT_EQ(Leakgate({"snapshot", "take", "--pid", pid, "-o", file}).exit_code, 0);
  const Json shown = Show(file);
  EXPECT_EQ(shown["snapshot"]["live"]["blocks"], shown["tables"][0]["rows"][0]["blocks"]);
  EXPECT_EQ(shown["tables"][0]["rows"][0]["name"], kNotTaken);
  Json freed = Amount(0, 0);
  for (const Json& table : shown["tables"]) {
    if (table["by"] != "freed-by") continue;
    for (const Json& row : table["rows"]) {
      if (row["bytes"] == 4 * 777) freed = AmountOf(row);
    }
  }
  EXPECT_EQ(freed, Amount(4 * 777, 4));
  EXPECT_EQ(program.End(), 0);
}

TEST_F(StackEventsTest, StayAsTheSessionHasThem) {
  ASSERT_EQ(Leakgate({"session", "start", session_, "--image", "a", "--stacks", "free"}).exit_code,
            0);
  const std::vector<std::string> enable = {"snapshot",  "config", "--image",  "b",    "enable",
                                           "--session", session_, "--stacks", "alloc"};
  const CommandResult other = Leakgate(enable);
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.standard_error,
              HasSubstr("the session '" + session_ + "' takes stacks of free, and that stays"));
  std::vector<std::string> same = enable;
  same.back() = "free";
  EXPECT_EQ(Leakgate(same).exit_code, 0);
}

// Three faults that look alike to who is in a hurry, each with an error of its own.
TEST_F(StackEventsTest, SaysWhatIsWrongWithThem) {
  const CommandResult result =
      Leakgate({"session", "start", session_, "--image", "a", "--stacks", "alloc,foo"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(
      result.standard_error,
      "leakgate: invalid stack event 'foo': there are alloc, realloc, free and churn, and none for "
      "no event; write for "
      "example --stacks alloc,realloc\n");
  EXPECT_THAT(Leakgate({"session", "list"}).standard_output, Not(HasSubstr(session_)));
}

TEST_F(StackEventsTest, SaysThatAProcessIsAnotherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const PublicCopy copy;
  const CommandResult result =
      RunCommand({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy.Leakgate(),
                  "session", "start", session_, "--pid", std::to_string(::getpid())});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.standard_error,
            "leakgate: PID " + std::to_string(::getpid()) +
                " is another user's; start the session as that user, or as root\n");
}

TEST_F(StackEventsTest, SaysThatAProcessHasNoMemoryForIt) {
  ASSERT_EQ(Leakgate({"session", "start", session_, "--image", "stack_events"}).exit_code, 0);
  const CommandResult run =
      Leakgate({"session", "exec", session_, "--", "sh", "-c",
                "ulimit -v 200000; exec '" + FixturePath("stack_events") + "'"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.standard_error, "");
  EXPECT_THAT(Leakgate({"session", "query", session_}).standard_output,
              HasSubstr("the agent could not map its tables; raise the limit on address space "
                        "(ulimit -v)"));
}

}  // namespace
}  // namespace leakgate::test
