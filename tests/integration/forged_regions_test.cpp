// Programs that write into the memory that they share with the runner what would have it grow, or
// read for ever (tests/fixtures/hostile/forging_suite.cpp), and programs of which there is much to
// judge: the runner's memory is bounded by what they have, its time by --timeout, and nothing
// passes.
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// The runner may need so much beside eight times what the program has written.
constexpr long kBesideKib = 512L << 10;
// A busy machine takes its time for what is left to do once the timeout of 5 s was reached: 20 s by
// the runner's own limit.
constexpr std::chrono::seconds kLongest(60);

struct MeasuredRun : CommandResult {
  long peak_kib = 0;  // of the runner, or of the program, if that had more
  std::chrono::steady_clock::duration wall{};
};

// The number that stands behind `word`; 0 if it does not occur.
long NumberBehind(const std::string& word, const std::string& text) {
  const std::size_t at = text.find(word);
  return at == std::string::npos ? 0 : std::atol(text.c_str() + at + word.size());
}

MeasuredRun RunMeasured(const Command& gated, const std::vector<std::string>& environment) {
  Command command = {"python3", "-c",
                     "import resource, subprocess, sys\n"
                     "code = subprocess.run(sys.argv[1:]).returncode\n"
                     "peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
                     "print('peak of', peak, file=sys.stderr)\n"
                     "sys.exit(code if code >= 0 else 128 - code)\n"};
  command.insert(command.end(), gated.begin(), gated.end());
  const auto begin = std::chrono::steady_clock::now();
  MeasuredRun run{RunCommand(command, {.environment = environment})};
  run.wall = std::chrono::steady_clock::now() - begin;
  run.peak_kib = NumberBehind("peak of ", run.standard_error);
  return run;
}

MeasuredRun RunForging(const std::string& what, const std::string& megabytes,
                       const std::string& test, const Command& options) {
  Command all = {"--confirm=off", "--report", "json=/dev/null"};
  all.insert(all.end(), options.begin(), options.end());
  return RunMeasured(
      Gated({FixturePath("hostile_forging_suite"), "--gtest_filter=Forges." + test}, all),
      {"FORGE=" + what, "MEGABYTES=" + megabytes});
}

// As the program tells it.
long RegionKib(const CommandResult& run) { return NumberBehind("region of ", run.standard_output); }

class ForgedRegionsTest : public testing::TestWithParam<const char*> {
 protected:
  static void ExpectBounded(const MeasuredRun& run) {
    EXPECT_NE(run.exit_code, 0) << run.standard_error;  // it may have died of what it wrote
    EXPECT_THAT(run.standard_error, Not(HasSubstr("internal error")));
    EXPECT_LT(run.wall, kLongest);
    if (RegionKib(run) == 0) {  // on a busy machine it may not have come so far
      EXPECT_THAT(run.standard_error, HasSubstr("the timeout of"));
      return;
    }
    EXPECT_LT(run.peak_kib, kBesideKib + 8 * RegionKib(run)) << RegionKib(run);
  }
};

TEST_P(ForgedRegionsTest, OfAProgramThatEndsInOrderTakeBoundedMemoryAndDoNotPass) {
  ExpectBounded(RunForging(GetParam(), "16", "AndIsJudged", {"--timeout", "5"}));
}

TEST_P(ForgedRegionsTest, OfAProgramThatDiesTakeBoundedMemoryAndDoNotPass) {
  ExpectBounded(RunForging(GetParam(), "16", "AndDies", {"--timeout", "5"}));
}

INSTANTIATE_TEST_SUITE_P(, ForgedRegionsTest,
                         testing::Values("map", "map_of_other_stacks", "map_in_memory",
                                         "map_in_memory_of_other_stacks",
                                         "map_in_memory_of_unmade_stacks", "stacks_in_cycles",
                                         "stacks_that_point_forward", "windows", "contexts",
                                         "threads", "allowances", "measuring_windows", "modules",
                                         "earlier_frees", "free_errors", "own_ranges", "mappings"),
                         [](const auto& test) { return std::string(test.param); });

// What lies where nothing is mapped is no block, whatever the rest of the region says.
class ForgedMapsTest : public testing::TestWithParam<const char*> {};

TEST_P(ForgedMapsTest, AreToldAsWrittenOver) {
  const MeasuredRun run = RunForging("map", GetParam(), "AndIsJudged", {"--timeout", "60"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.standard_error,
              HasSubstr("the program has written over the memory that it shares with leakgate"));
  EXPECT_THAT(run.standard_error, Not(HasSubstr("the timeout of")));
  EXPECT_LT(run.peak_kib, kBesideKib + 8 * RegionKib(run));
}

INSTANTIATE_TEST_SUITE_P(InMegabytes, ForgedMapsTest, testing::Values("16", "160", "640"),
                         [](const auto& test) { return std::string(test.param); });

// Memory that is mapped costs nothing as long as nobody writes to it, and no block lies in it then.
TEST(ForgedMapsInMemoryTest, AreToldAsWrittenOverWhereNobodyHasWritten) {
  const MeasuredRun run = RunForging("map_in_memory", "160", "AndIsJudged", {"--timeout", "60"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.standard_error,
              HasSubstr("the program has written over the memory that it shares with leakgate"));
}

// What takes long is cut short, and what was found by then is told.

MeasuredRun RunMany(const char* fixture, const std::string& variable, const Command& options) {
  return RunMeasured(Gated({FixturePath(fixture)}, options), {variable});
}

TEST(TimeoutsTest, HoldWhileManyStacksAreJudged) {
  const MeasuredRun run =
      RunMany("hostile_many_stacks", "STACKS=1000000", {"--timeout", "5", "--confirm=off"});
  EXPECT_EQ(run.exit_code, 3) << run.standard_error;
  EXPECT_THAT(run.standard_error, HasSubstr("the timeout of 5 s was reached"));
  EXPECT_LT(run.wall, kLongest);
}

// A file system that answers nothing is such a thing, too: nobody reads the report.
TEST(TimeoutsTest, HoldWhileNobodyReadsWhatIsTold) {
  const Command run =
      Gated({FixturePath("hostile_many_stacks")}, {"--timeout", "3", "--confirm=off", "--verbose"});
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const std::string filling(1 << 20, 'x');
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  while (::write(ends[1], filling.data(), filling.size()) > 0) {
  }
  while (::write(ends[1], filling.data(), 1) > 0) {
  }
  ::fcntl(ends[1], F_SETFL, 0);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    std::vector<char*> arguments;
    for (const std::string& argument : run) {
      arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  const bool has_ended = ComesTrue([&] { return ::waitpid(pid, &status, WNOHANG) == pid; });
  if (!has_ended) ::kill(pid, SIGKILL);
  ASSERT_TRUE(has_ended);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kLongest);
  for (const int end : ends) ::close(end);
}

// Largest first, and the sums are of all.
TEST(ManyStacksTest, AreSummedBeyondTenThousandInLessThanAGibibyte) {
  constexpr std::int64_t kStacks = 20'000;
  const TemporaryDirectory directory;
  const std::string report = directory.File("report.json");
  const MeasuredRun run = RunMany("hostile_many_stacks", "STACKS=" + std::to_string(kStacks),
                                  {"--confirm=off", "--report", "json=" + report});
  EXPECT_EQ(run.exit_code, 1) << run.standard_error;
  EXPECT_LT(run.peak_kib, 1L << 20);
  EXPECT_THAT(run.standard_error, HasSubstr("in 20000 blocks lost"));
  // It is too large to be parsed here.
  EXPECT_NE(ReadFile(report).find("call stacks that are too many to show one by one, summed here"),
            std::string::npos);
}

}  // namespace
}  // namespace leakgate::test
