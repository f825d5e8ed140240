// Golden files: what the writers print for a built value, whole, under
// tests/golden. LEAKGATE_UPDATE_GOLDEN=1 writes them anew; read the diff.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace leakgate {

inline void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(LEAKGATE_SOURCE_DIR) + "/tests/golden/" + name;
  if (std::getenv("LEAKGATE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  ASSERT_TRUE(file) << path << " is missing; LEAKGATE_UPDATE_GOLDEN=1 writes it";
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << path << " differs; LEAKGATE_UPDATE_GOLDEN=1 writes it anew";
}

}  // namespace leakgate
