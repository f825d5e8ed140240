// Modules that a process loads once it has been attached to are traced, too, and found
// where they would be found without us.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <future>
#include <thread>

#include "runner/base/descriptors.h"
#include "tests/attach/attached_program.h"
#include "tests/support/command.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

constexpr std::size_t kPluginBytes = 4321;  // tests/fixtures/attach/plugin.cpp

void ExpectItsBlocksAreSeen(AttachedProgram& program) {
  EXPECT_EQ(program.Ask("malloc 5 203"), "ok");
  EXPECT_EQ(program.Ask("new 5 305"), "ok");
  EXPECT_EQ(program.BlocksOf(203), 5U);
  EXPECT_EQ(program.BlocksOf(305), 5U);
  EXPECT_EQ(program.Ask("free"), "ok");
  EXPECT_EQ(program.BlocksOf(203), 0U);
  EXPECT_EQ(program.BlocksOf(305), 0U);
}

// Its dynamic linker has not come to the C library yet: it waits for a writer of what it is to
// preload.
TEST(AttachedLoadingTest, WaitsForWhatTheProgramIsLinkedWith) {
  const TemporaryDirectory directory;
  const std::string preloaded = directory.File("preloaded");
  ASSERT_EQ(::mkfifo(preloaded.c_str(), 0600), 0);
  AttachedProgram program(Carries::kNoAgent,
                          {"/usr/bin/env", "LD_PRELOAD=" + preloaded, FixturePath("attach_target")},
                          Until::kBegun);
  UniqueFd writer(::open(preloaded.c_str(), O_WRONLY));
  ASSERT_TRUE(writer);
  auto enabled = std::async(std::launch::async, [&] { return program.Enable(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  writer.Reset();  // there is nothing to preload in it
  ASSERT_EQ(enabled.get(), "");
  ASSERT_EQ(program.Read(), "ready");
  ExpectItsBlocksAreSeen(program);
}

TEST(AttachedLoadingTest, SeesWhatAModuleLoadedLaterAllocates) {
  AttachedProgram program;
  ASSERT_EQ(program.Enable(), "");
  EXPECT_EQ(program.Ask("load " + FixturePath("attached/libattach_plugin.so") + " Leak"), "ok");
  EXPECT_EQ(program.BlocksOf(kPluginBytes), 1U);
}

// The name alone: found by the program's own RUNPATH, which is for its own calls only.
TEST(AttachedLoadingTest, FindsAModuleByTheCallersRunpath) {
  AttachedProgram program;
  ASSERT_EQ(program.Enable(), "");
  EXPECT_EQ(program.Ask("load libattach_plugin.so Leak"), "ok");
  EXPECT_EQ(program.BlocksOf(kPluginBytes), 1U);
}

TEST(AttachedLoadingTest, LeavesAModuleAloneOnceDisabled) {
  AttachedProgram program;
  ASSERT_EQ(program.Enable(), "");
  ASSERT_EQ(program.Disable(), "");
  EXPECT_EQ(program.Ask("load libattach_plugin.so Leak"), "ok");
  ASSERT_EQ(program.Enable(), "");
  EXPECT_EQ(program.Ask("load libattach_plugin.so Leak"), "ok");
  EXPECT_EQ(program.BlocksOf(kPluginBytes), 1U);
}

// Its calls are resolved when they are first made, so those that have not been are
// resolved to the agent's.
TEST(AttachedLoadingTest, SeesCallsThatAreResolvedLater) {
  AttachedProgram program(Carries::kNoAgent, {FixturePath("attach_target_lazy")});
  ASSERT_EQ(program.Enable(), "");
  ExpectItsBlocksAreSeen(program);
}

// At fixed addresses, with all addresses set and protected before main.
TEST(AttachedLoadingTest, SeesAProgramAtFixedAddresses) {
  AttachedProgram program(Carries::kNoAgent, {FixturePath("attach_target_fixed")});
  ASSERT_EQ(program.Enable(), "");
  EXPECT_EQ(program.Ask("malloc 5 203"), "ok");
  EXPECT_EQ(program.BlocksOf(203), 5U);
  EXPECT_EQ(program.Ask("free"), "ok");
  EXPECT_EQ(program.BlocksOf(203), 0U);
}

// An allocator in a library: traced as ever, and called as ever.
TEST(AttachedLoadingTest, SeesAnAllocatorInALibrary) {
  AttachedProgram program(Carries::kNoAgent, {FixturePath("attach_target_tcmalloc")});
  ASSERT_EQ(program.Ask("malloc 500 101"), "ok");
  ASSERT_EQ(program.Enable(), "");
  ExpectItsBlocksAreSeen(program);
}

}  // namespace
}  // namespace leakgate::test
