// `leakgate snapshot show --mapped`: who has mapped what, and how much of it is in memory.
#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/support/command.h"
#include "tests/support/heap_on_request.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::Not;
using testing::StartsWith;
using Json = nlohmann::json;

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kPage = 4096;

class MappedPagesTest : public testing::Test {
 protected:
  ~MappedPagesTest() override { Leakgate({"session", "stop", session_}); }

  std::string Take(const std::string& name) const {
    std::string file = directory_.File(name + ".snapshot");
    const CommandResult taken = Leakgate(
        {"snapshot", "take", "--pid", std::to_string(program_.pid()), "--consistent", "-o", file});
    EXPECT_EQ(taken.exit_code, 0) << taken.standard_error;
    return file;
  }
  static std::string Text(const std::string& file, std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"snapshot", "show", file, "--mapped"});
    const CommandResult shown = Leakgate(options);
    EXPECT_EQ(shown.exit_code, 0) << shown.standard_error;
    return shown.standard_output;
  }
  static Json Show(const std::string& file, std::vector<std::string> options = {}) {
    options.emplace_back("--json");
    return Json::parse(Text(file, options));
  }
  // The row of a table whose name begins so; null if there is none.
  static Json Row(const Json& shown, const std::string& by, const std::string& name) {
    for (const Json& table : shown["tables"]) {
      if (table["by"] != by) continue;
      for (const Json& row : table["rows"]) {
        if (row["name"].get<std::string>().starts_with(name)) return row;
      }
    }
    return nullptr;
  }
  // Adds up `key` of all that a function of the fixture has mapped.
  static std::int64_t Of(const std::string& file, const std::string& function,
                         const std::string& key) {
    const Json shown = Show(file, {"--group-by", "stack", "--filter", "pages::" + function});
    std::int64_t sum = 0;
    for (const Json& row : shown["tables"][0]["rows"]) sum += row.at(key).get<std::int64_t>();
    return sum;
  }
  static std::int64_t Resident(const std::string& file, const std::string& function) {
    return Of(file, function, "resident_bytes");
  }

  const TemporaryDirectory directory_;
  const std::string session_ = "pages-" + std::to_string(::getpid());
  HeapOnRequest program_{HeapOnRequest::InSession{session_, "mapped_pages"}};
};

TEST_F(MappedPagesTest, TellsWhatIsInMemory) {
  program_.Do("map\n");
  const std::string file = Take("a");
  EXPECT_EQ(Resident(file, "Touched"), 4 * kMiB);
  EXPECT_EQ(Of(file, "Touched", "bytes"), 6 * kMiB);
  EXPECT_EQ(Resident(file, "GivenBack"), 5 * kMiB);
  EXPECT_EQ(Resident(file, "FreedLazily"), 16 * kMiB);
  EXPECT_EQ(Resident(file, "Reserved"), 0);
  EXPECT_EQ(Resident(file, "Sparse"), 3 * kPage);
  EXPECT_EQ(Resident(file, "TouchedAndClosed"), kMiB);
  EXPECT_EQ(Resident(file, "OfAFile"), 10 * kPage);
  EXPECT_EQ(Resident(file, "Moved"), kMiB);
}

// Before Linux 6.7 the page of zeros counts, since it cannot be told.
TEST_F(MappedPagesTest, TellsWhatWasOnlyRead) {
  program_.Do("map\n");
  EXPECT_THAT(Resident(Take("a"), "OnlyRead"), testing::AnyOf(0, 2 * kMiB));
}

// Pages that the kernel has not come to yet do not count: it does so many at a time.
TEST_F(MappedPagesTest, TellsWhatTheKernelMayTakeBack) {
  program_.Do("map\n");
  const std::string file = Take("a");
  EXPECT_THAT(Of(file, "FreedLazily", "lazily_freed_bytes"), AllOf(Ge(4 * kMiB), Le(8 * kMiB)));
  EXPECT_THAT(Text(file), AllOf(HasSubstr("MADV_FREE"),
                                ContainsRegex("resident  .* the kernel may take [0-9.]+ MiB of "
                                              "that back \\(MADV_FREE\\)")));
}

TEST_F(MappedPagesTest, ShowsThemInTheGroupsOfBlocks) {
  program_.Do("map\n");
  const std::string file = Take("a");
  const Json shown = Show(file);
  EXPECT_EQ(shown["snapshot"]["mapped"]["mappings"], shown["shown"]["mappings"]);
  EXPECT_EQ(Row(shown, "module", FixturePath("mapped_pages")).at("mappings"),
            Row(shown, "window", "the program").at("mappings"));
  EXPECT_FALSE(Row(shown, "thread", "the main thread").is_null());
  EXPECT_EQ(Row(shown, "kind", "mapped file").at("bytes"), kMiB);
  EXPECT_GE(Row(shown, "size", "32.0 GiB to 64.0 GiB").at("reserved_bytes"), 64LL << 30);
  EXPECT_EQ(Row(Show(file, {"--group-by", "stack"}), "stack", "pages::Moved(")
                .at("stack")[0]
                .at("function"),
            "pages::Moved()");
}

TEST_F(MappedPagesTest, ShowsATableAndATree) {
  program_.Do("map\n");
  const std::string file = Take("a");
  EXPECT_THAT(Text(file, {"--filter", "pages::Touched"}),
              AllOf(ContainsRegex("mapped +[0-9.]+ GiB in [0-9]+ mappings, and [0-9.]+ GiB only "
                                  "reserved: by the program itself"),
                    HasSubstr("shown      6.0 MiB in 3 mappings, and 8192 B only reserved that "
                              "match pages::Touched\n"),
                    HasSubstr("MAPPINGS      RESIDENT"),
                    ContainsRegex("6.0 MiB +6291456 +100.0 +1 +4.0 MiB .*pages::Map\\(")));
  EXPECT_THAT(
      Text(file, {"--view", "tree", "--filter", "pages::Touched"}),
      AllOf(HasSubstr("MAPPINGS"), ContainsRegex("6.0 MiB +6291456 +100.0 +3  pages::Touched\\("),
            ContainsRegex("6.0 MiB +6291456 +100.0 +1    pages::Map\\(")));
  const Json tree = Show(file, {"--view", "tree", "--filter", "pages::Touched"})["tree"];
  EXPECT_EQ(tree["bytes"], 6 * kMiB);
  EXPECT_EQ(tree["mappings"], 3);
}

TEST_F(MappedPagesTest, SaysWhatMatchesNothing) {
  EXPECT_THAT(Text(Take("a"), {"--filter", "nothing::*"}),
              AllOf(Not(HasSubstr("Nothing is live")),
                    testing::AnyOf(HasSubstr("Nothing matches."),
                                   HasSubstr("The program has mapped nothing itself."))));
}

// What has ended has no pages; that is not none in memory.
TEST_F(MappedPagesTest, SaysWhereItIsNotKnown) {
  program_.Do("map\n");
  const int pid = program_.pid();
  ASSERT_EQ(program_.End(), 0);
  const std::string file = directory_.File("ended.snapshot");
  ASSERT_EQ(Leakgate({"snapshot", "take", "--pid", std::to_string(pid), "-o", file}).exit_code, 0);
  const Json shown = Show(file);
  EXPECT_EQ(shown["snapshot"]["mapped"]["pages_problem"], "the process had ended");
  EXPECT_EQ(Row(shown, "site", "pages::Moved(").at("resident_bytes"), nullptr);
  EXPECT_EQ(Row(shown, "site", "pages::Moved(").at("pages_not_known_bytes"), 4 * kMiB);
  EXPECT_THAT(Text(file), AllOf(HasSubstr("resident   not known: the process had ended\n"),
                                Not(HasSubstr("RESIDENT"))));
}

TEST_F(MappedPagesTest, TellsWhatWasTouchedInBetween) {
  program_.Do("map\n");
  const std::string before = Take("before");
  program_.Do("touch\n");
  const std::string after = Take("after");
  const Json diff =
      Json::parse(Leakgate({"snapshot", "diff", before, after, "--json"}).standard_output);
  const Json& mapped = diff["mapped"];
  EXPECT_EQ(mapped["total"]["growth"]["bytes"], 0);
  EXPECT_EQ(mapped["total"]["resident_after"].get<std::int64_t>() -
                mapped["total"]["resident_before"].get<std::int64_t>(),
            2 * kMiB - 5 * kMiB);
  EXPECT_EQ(mapped["sites"].size(), 1U);
  const std::string text = Leakgate({"snapshot", "diff", before, after}).standard_output;
  EXPECT_THAT(text,
              AllOf(ContainsRegex("resident   [0-9.]+ MiB before, [0-9.]+ MiB after: -3.0 MiB"),
                    HasSubstr("\nMapped as before, more or less of it in memory\n"),
                    ContainsRegex("-3.0 MiB  pages::Map\\("), Not(HasSubstr("Nothing"))));
}

// Of one of the two it is not known: no change then.
TEST_F(MappedPagesTest, ComparesOnlyWhatIsKnownOfBoth) {
  program_.Do("map\n");
  const std::string before = Take("before");
  const int pid = program_.pid();
  ASSERT_EQ(program_.End(), 0);
  const std::string after = directory_.File("after.snapshot");
  ASSERT_EQ(Leakgate({"snapshot", "take", "--pid", std::to_string(pid), "-o", after}).exit_code, 0);
  const CommandResult diff = Leakgate({"snapshot", "diff", before, after});
  EXPECT_THAT(diff.standard_output,
              AllOf(HasSubstr("resident   not known of " + after + ": the process had ended\n"),
                    Not(HasSubstr("RESIDENT")), HasSubstr("\nNothing has changed.\n")));
  const Json json =
      Json::parse(Leakgate({"snapshot", "diff", before, after, "--json"}).standard_output);
  EXPECT_EQ(json["mapped"]["total"]["resident_before"], nullptr);
  EXPECT_EQ(json["mapped"]["pages_problems"][0], after + ": the process had ended");
}

TEST_F(MappedPagesTest, RefusesWhatMappingsDoNotHave) {
  const std::string file = Take("a");
  EXPECT_THAT(
      Leakgate({"snapshot", "show", file, "--mapped", "--group-by", "freed-by"}).standard_error,
      HasSubstr("--mapped and --group-by freed-by contradict each other"));
  const CommandResult since = Leakgate({"snapshot", "show", file, "--mapped", "--since", file});
  EXPECT_EQ(since.exit_code, 2);
  EXPECT_THAT(since.standard_error,
              StartsWith("leakgate: --since tells the age of blocks; of --mapped"));
}

}  // namespace
}  // namespace leakgate::test
