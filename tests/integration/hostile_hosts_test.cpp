// Programs that are hard on whoever lives in them: what they print and how they end is the
// same under leakgate as alone. tests/fixtures/hostile says what each does.
#include <gmock/gmock.h>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

class HostileHostsTest : public testing::TestWithParam<const char*> {
 protected:
  void ExpectTheSame(const std::string& fixture, const std::string& argument) {
    const Command program = {FixturePath(fixture), GetParam(), argument};
    const CommandResult alone = RunCommand(program);
    ASSERT_NE(ShellCode(alone), 99) << "no such mode";
    const CommandResult gated = RunCommand(Gated(program, {"--timeout", "60"}));
    EXPECT_EQ(ShellCode(gated), ShellCode(alone)) << gated.standard_error;
    EXPECT_EQ(gated.standard_output, alone.standard_output);
  }
};

TEST_P(HostileHostsTest, EndsAsItDoesAlone) {
  const TemporaryDirectory directory;
  ExpectTheSame("hostile_host", directory.path());
}

TEST_P(HostileHostsTest, EndsAsItDoesAloneAtAFixedAddressWithoutSectionHeaders) {
  const TemporaryDirectory directory;
  ExpectTheSame("hostile_host_bare", directory.path());
}

INSTANTIATE_TEST_SUITE_P(
    , HostileHostsTest,
    testing::Values(
        "fork_among_allocating_threads", "vfork_among_allocating_threads",
        "posix_spawn_among_allocating_threads", "raw_clone",
        "raw_clone_of_a_thread_of_the_same_memory", "daemon_that_closes_all_descriptors",
        "closes_all_descriptors", "forbids_system_calls_by_signal", "forbids_system_calls_by_error",
        "little_address_space", "no_files_and_no_descriptors", "no_more_processes",
        "another_root_and_user", "signal_storm", "longjmp_out_of_handlers", "own_stacks",
        "coroutines", "exceptions_through_c", "stack_overflow", "stack_overflow_that_is_caught",
        "exit_of_a_thread", "exit_at_once", "quick_exit", "abort", "abort_in_a_handler_of_exit",
        "exit_in_a_handler_of_exit", "main_thread_ends_first", "thousands_of_threads",
        "destructors_of_threads_that_allocate", "cancelled_threads", "library_that_comes_and_goes"),
    [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace leakgate::test
