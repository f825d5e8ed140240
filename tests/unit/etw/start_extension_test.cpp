#include "runner/etw/start_extension.h"

#include <gmock/gmock.h>

namespace leakgate {
namespace {

using testing::ElementsAre;

TEST(StartExtensionTest, HasItsLengthAndEachItemWithItsOwn) {
  const std::uint32_t processes[] = {77, 78};
  const std::uint32_t events[] = {0x1021};

  EXPECT_THAT(MakeStartExtension(processes, events),
              ElementsAre(6 | 2 << 16, 3 | 2 << 16, 77, 78, 2 | 3 << 16, 0x1021));
}

}  // namespace
}  // namespace leakgate
