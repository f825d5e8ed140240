// The modules that stacks run through, as the agent records them.
#include "plugin/agent/unwind/module_table.h"

#include <gmock/gmock.h>

#include <cstdint>

#include "tests/unit/agent/read_calls.h"
#include "tests/unit/agent/traced_region.h"

namespace leakgate::test {
namespace {

// The dynamic linker has no path of the program, so that the kernel is asked for it.
TEST(ModuleTableTest, AsksForThePathOfAModuleOnceThoughOthersComeAndGo) {
  TracedRegion();
  const auto pc = reinterpret_cast<std::uint64_t>(&ReadCalls);
  const std::uint32_t id = agent::g_modules.Find(pc).id;
  ASSERT_NE(id, 0U);
  EXPECT_THAT(TracedRegion().reader().ModuleOf(id).path,
              ::testing::HasSubstr("leakgate_unit_tests"));

  const std::uint64_t before = ReadCalls();
  for (int i = 0; i < 100; ++i) {
    agent::g_modules.ModulesMayHaveGone();
    EXPECT_EQ(agent::g_modules.Find(pc).id, id);
  }
  EXPECT_LT(ReadCalls() - before, 50U);
}

}  // namespace
}  // namespace leakgate::test
