// Names that stand for gigabytes, or keep the C++ library's demangler busy for years; and all names
// of real libraries, which are spelt as ever.
#include "runner/symbols/demangler.h"

#include <cxxabi.h>
#include <gtest/gtest.h>
#include <link.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "runner/symbols/name_text.h"
#include "tests/support/command.h"

namespace leakgate {
namespace {

// Returns what the C++ library makes of the name, whatever it takes.
std::string DemangledAnyhow(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : symbol;
}

// "S_", "S0_", .., "SZ_", "S10_": what the name has named before.
std::string Reference(int number) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (number == 0) return "S_";
  const auto rest = static_cast<std::size_t>(number - 1);
  std::string digits(1, kDigits[rest % 36]);
  if (rest >= 36) digits.insert(digits.begin(), kDigits[rest / 36]);
  return "S" + digits + "_";
}

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// A<A<..>, A<..>> of A<A<..>, A<..>>: each twice as long as the one before.
std::string Doubled(int times) {
  std::string name = "_Z1f1AIiiE";
  for (int i = 1; i <= times; ++i) name += "S_I" + Reference(i) + Reference(i) + "E";
  return name;
}

// The same from the inside, as a pack that has none: it is looked through before a letter is out.
std::string DoubledInPack(int times) {
  std::string name = "_Z1fDp1AI" + Repeated("S_I", times) + "ii";
  for (int i = 1; i <= times; ++i) name += "E" + Reference(i);
  return name + "E";
}

// Each parameter is all arguments before.
std::string DoubledArguments(int times) {
  std::string name = "_Z1fI1AIiiE";
  for (int i = 1; i <= times; ++i) name += "S_I" + Reference(i) + Reference(i) + "E";
  name += "Ev";
  for (int i = 0; i < times; ++i) name += i == 0 ? "T_" : "T" + std::to_string(i - 1) + "_";
  return name;
}

std::string Signatures(int times) {
  std::string name = "_Z1fPFvvE";
  for (int i = 1; i <= times; ++i) name += "PF" + Reference(2 * i - 1) + Reference(2 * i - 1) + "E";
  return name;
}

class HostileSymbolsTest : public testing::TestWithParam<std::string> {};

TEST_P(HostileSymbolsTest, TakeLittleTimeAndText) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string name = Demangle(GetParam());
  EXPECT_LE(name.size(), std::max(kMostDemangledBytes, GetParam().size()));
  EXPECT_LE(ReadableSignature(name).size(), 1000U);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

INSTANTIATE_TEST_SUITE_P(
    , HostileSymbolsTest,
    testing::Values(Doubled(24), Doubled(40), Doubled(70), DoubledInPack(26), DoubledInPack(40),
                    DoubledInPack(80), DoubledArguments(30), DoubledArguments(60), Signatures(60),
                    "_Z1f" + Repeated("P", 100'000) + "i", "_Z1f" + Repeated("P", 1000) + "i",
                    "_Z1fN" + Repeated("1aI", 300) + "i" + Repeated("E", 301),
                    "_Z1fI" + Repeated("J", 300) + Repeated("E", 300) + "EvDpT_",
                    "_Z1fDT" + Repeated("cl", 400) + Repeated("E", 401),
                    "_Z" + Repeated("Z1f", 300) + "vE1x", Repeated("_Z", 30'000),
                    "_Z1fS" + Repeated("Z", 1000) + "_", "_Z99999999999999999999a",
                    "_Z1fA" + Repeated("9", 500) + "_i"),
    [](const auto& test) { return "Name" + std::to_string(test.index); });

TEST(DemanglerTest, LeavesANameMangledThatIsTooLong) {
  EXPECT_EQ(DemangledName(Doubled(40)), std::nullopt);
  EXPECT_EQ(Demangle(Doubled(40)), Doubled(40));
}

TEST(DemanglerTest, LeavesManyNamesThatTakeTooLong) {
  for (int i = 0; i < 60; ++i) EXPECT_EQ(DemangledName(DoubledInPack(60 + i % 20)), std::nullopt);
  EXPECT_EQ(DemangledName("_ZN3net4Pool4GrowEm"), "net::Pool::Grow(unsigned long)");
}

TEST(DemanglerTest, WorksOnManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int round = 0; round < 5; ++round) {
        EXPECT_EQ(DemangledName(DoubledInPack(70)), std::nullopt);
        EXPECT_EQ(DemangledName("_ZNSt6vectorIiSaIiEE9push_backEOi"),
                  "std::vector<int, std::allocator<int> >::push_back(int&&)");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(DemanglerTest, SpellsAllNamesOfRealLibrariesAsTheCxxLibraryDoes) {
  std::set<std::string> files = {"/proc/self/exe"};
  ::dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* to) {
        const std::string path = module->dlpi_name;
        if (path.starts_with('/')) static_cast<std::set<std::string>*>(to)->insert(path);
        return 0;
      },
      &files);
  std::size_t names = 0;
  for (const std::string& file : files) {
    std::istringstream lines(
        test::RunCommand(
            {"sh", "-c", "nm -P \"$0\"; nm -DP --without-symbol-versions \"$0\"", file})
            .standard_output);
    for (std::string line; std::getline(lines, line);) {
      const std::string symbol = line.substr(0, line.find(' '));
      if (!symbol.starts_with("_Z") || symbol.find('.') != std::string::npos) continue;
      ++names;
      ASSERT_EQ(Demangle(symbol), DemangledAnyhow(symbol));
    }
  }
  EXPECT_GT(names, 5000U);
}

}  // namespace
}  // namespace leakgate
