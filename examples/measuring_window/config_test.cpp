#include <gtest/gtest.h>

#include <memory>

#include "leakgate/window.h"

struct Config {
  int* cached = nullptr;

  int Load() {
    const auto parsed = std::make_unique<int>(42);
    if (cached == nullptr) cached = new int(*parsed);
    return *cached;
  }
  ~Config() { delete cached; }
};

TEST(Config, CachesWhatItLoads) {
  Config config;
  leakgate::Window first("load once");
  config.Load();
  const leakgate::Measurement cached = first.End();
  if (cached.is_measured) EXPECT_EQ(cached.blocks, 1);

  const leakgate::Window second("load from the cache");
  config.Load();
  EXPECT_EQ(second.Outstanding(), leakgate::Nothing());
}

TEST(Config, LeavesNothingBehind) {
  leakgate::Window window("load and forget");
  {
    Config config;
    EXPECT_EQ(config.Load(), 42);
  }
  EXPECT_EQ(window.Outstanding(), leakgate::Nothing());
}
