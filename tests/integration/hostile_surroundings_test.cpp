// What users set in the environment of their tests: other allocators and libraries that are
// preloaded behind the agent, and what the loader and malloc read. Each test is judged as it is
// without.
#include <gmock/gmock.h>

#include "tests/integration/launch_commands.h"
#include "tests/support/processor.h"

namespace leakgate::test {
namespace {

using Json = nlohmann::json;

struct Surroundings {
  const char* name;
  std::string assignment;
};

std::string Preloaded(const std::string& library) {
  return std::string("LD_PRELOAD=") + kLibraryFolder + library;
}

class SurroundingsTest : public testing::TestWithParam<Surroundings> {
 protected:
  // Of each test: what was found, but for what allocators put into names of their own.
  static std::map<std::string, std::string> Verdicts(const std::string& fixture,
                                                     const std::string& assignment) {
    const TemporaryDirectory directory;
    const std::string report = directory.File("report.json");
    const Command gated = Gated(
        {FixturePath(fixture), "--gtest_filter=-*FailedNew*"},  // mimalloc aborts alone, too
        {"--budgets", std::string(LEAKGATE_SOURCE_DIR) + "/tests/fixtures/literal.leakgate.json",
         "--report", "json=" + report});
    const CommandResult run = RunCommand(Behind("export LC_ALL=C " + assignment, gated));
    EXPECT_EQ(run.exit_code, 1) << run.standard_error;
    std::map<std::string, std::string> verdicts;
    for (const Json& window : Json::parse(ReadFile(report))["windows"]) {
      if (window["kind"] != "test") continue;
      verdicts[window["name"]] =
          window["verdict"].get<std::string>() + " " + window["outstanding"].dump();
    }
    return verdicts;
  }
  static const std::map<std::string, std::string>& UsualVerdicts(const std::string& fixture) {
    static std::map<std::string, std::map<std::string, std::string>> verdicts;
    if (!verdicts.contains(fixture)) verdicts[fixture] = Verdicts(fixture, "");
    return verdicts[fixture];
  }
};

TEST_P(SurroundingsTest, ChangeNoVerdict) {
  const std::string assignment = GetParam().assignment;
  const std::size_t library = assignment.find("/usr/lib");
  if (library != std::string::npos && !std::filesystem::exists(assignment.substr(library))) {
    GTEST_SKIP() << assignment.substr(library) << " is not installed";
  }
  std::vector<std::string> fixtures = {"language_untouched", "threads_untouched",
                                       "places_listener"};
  if (GetParam().name == std::string("everything_mapped"))
    fixtures.resize(1);  // the others are slow
  for (const std::string& fixture : fixtures) {
    EXPECT_EQ(Verdicts(fixture, assignment), UsualVerdicts(fixture)) << fixture;
  }
}

INSTANTIATE_TEST_SUITE_P(
    , SurroundingsTest,
    testing::Values(Surroundings{"jemalloc", Preloaded("libjemalloc.so.2")},
                    Surroundings{"tcmalloc", Preloaded("libtcmalloc_minimal.so.4")},
                    Surroundings{"mimalloc", Preloaded("libmimalloc.so.2.0")},
                    Surroundings{"malloc_debug", Preloaded("libc_malloc_debug.so.0")},
                    Surroundings{"memusage", Preloaded("libmemusage.so")},
                    Surroundings{"names_bound_at_once", "LD_BIND_NOW=1"},
                    Surroundings{"one_arena", "MALLOC_ARENA_MAX=1"},
                    Surroundings{"perturbed_memory", "MALLOC_PERTURB_=165"},
                    Surroundings{"no_thread_cache", "GLIBC_TUNABLES=glibc.malloc.tcache_count=0"},
                    Surroundings{"everything_mapped", "MALLOC_MMAP_THRESHOLD_=0"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace leakgate::test
