#include <gmock/gmock.h>

#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

TEST(KindsTest, MallocIsChargedToItsTest) {
  const GatedRun run = RunGated({FixturePath("kinds_untouched")});
  EXPECT_EQ(run.Test("Kinds.LeaksByMalloc")["outstanding"]["bytes"], 100);
}

}  // namespace
}  // namespace leakgate::test
