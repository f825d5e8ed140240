// Names that would keep the C++ library's demangler busy for years: the thread that spells them is
// ended.
#include "runner/symbols/demangler.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace leakgate {
namespace {

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// A<A<..>, A<..>> of A<A<..>, A<..>>, each twice as long as the one before, as a pack that has
// none: it is looked through before a letter is out.
std::string Endless(int times) {
  constexpr char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "_Z1fDp1AI" + Repeated("S_I", times) + "ii";
  for (int i = 1; i <= times; ++i) {
    const auto rest = static_cast<std::size_t>(i - 1);
    name += "ES";
    if (rest >= 36) name += kDigits[rest / 36];
    name += std::string(1, kDigits[rest % 36]) + "_";
  }
  return name + "E";
}

TEST(WindowsDemanglerTest, LeavesNamesThatTakeTooLongAndSpellsOthersAfterwards) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 30; ++i) EXPECT_EQ(DemangledName(Endless(60 + i % 20)), std::nullopt);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));

  EXPECT_EQ(DemangledName("_ZN3net4Pool4GrowEm"), "net::Pool::Grow(unsigned long)");
  EXPECT_EQ(DemangledName("_ZN3net" + Repeated("4Pool", 30) + "4GrowEm"),
            "net::" + Repeated("Pool::", 30) + "Grow(unsigned long)");
}

}  // namespace
}  // namespace leakgate
