// Quick tests that leave behind what programs keep on purpose: function-local
// statics, registries, caches. None of them leaks, and repeated none grows.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

// Each instance of these functions has statics of its own.
template <int kOf>
const std::map<std::string, int>& Table() {
  static const std::map<std::string, int> table = {
      {"one", 1}, {"two", 2}, {"three", 3}, {"many", kOf}};
  return table;
}

template <int kOf>
const std::vector<std::string>& NamesNeverDestroyed() {
  static const auto* const names = new std::vector<std::string>(10, std::string(40 + kOf, 'n'));
  return *names;
}

using Factory = std::function<std::unique_ptr<std::string>()>;

std::map<std::string, Factory>& Registry() {
  static std::map<std::string, Factory> registry;
  return registry;
}

template <int kOf>
const std::string& Squared(int number) {
  static std::unordered_map<int, std::string> cache;
  std::string& known = cache[number];
  if (known.empty())
    known = "the square of it, with some words around: " + std::to_string(number * number * kOf);
  return known;
}

template <int kOf>
const std::vector<int>& MadeByCallOnce() {
  static std::once_flag once;
  static std::unique_ptr<std::vector<int>> made;
  std::call_once(once, [] { made = std::make_unique<std::vector<int>>(100, kOf); });
  return *made;
}

template <int kOf>
std::string& TextOfThread() {
  thread_local std::string text(100, 't');
  return text;
}

template <int kOf>
struct Singleton {
  static Singleton& Get() {
    if (instance == nullptr) instance = new Singleton;
    return *instance;
  }
  static inline Singleton* instance = nullptr;
  std::vector<std::string> words = {"made where it is first asked for", "and never destroyed"};
};

template <int kOf>
const std::string& Interned(const std::string& text) {
  static std::set<std::string> pool;
  return *pool.insert(text).first;
}

template <int kOf>
const std::regex& Pattern() {
  static const std::regex pattern("([a-z]+)=([0-9]+)");
  return pattern;
}

template <int kOf>
std::vector<char>& Scratch(std::size_t size) {
  static std::vector<char> scratch;
  if (scratch.size() < size) scratch.resize(size);
  return scratch;
}

template <typename Number>
class Keeps : public ::testing::Test {
 protected:
  static constexpr int kOf = Number::value;
};

template <int kOf>
using Number = std::integral_constant<int, kOf>;
using Numbers = ::testing::Types<Number<0>, Number<1>, Number<2>, Number<3>, Number<4>, Number<5>>;
TYPED_TEST_SUITE(Keeps, Numbers);

TYPED_TEST(Keeps, LocalStatic) {
  EXPECT_EQ(Table<TestFixture::kOf>().at("many"), TestFixture::kOf);
}

TYPED_TEST(Keeps, StaticNeverDestroyed) {
  EXPECT_EQ(NamesNeverDestroyed<TestFixture::kOf>().size(), 10U);
}

TYPED_TEST(Keeps, EntryOfRegistry) {
  const std::string name = "a factory that is registered once: " + std::to_string(TestFixture::kOf);
  Registry().emplace(name, [name] { return std::make_unique<std::string>(name); });
  EXPECT_EQ(*Registry().at(name)(), name);
}

TYPED_TEST(Keeps, Cache) {
  for (int number = 1; number < 20; ++number)
    EXPECT_FALSE(Squared<TestFixture::kOf>(number).empty());
}

TYPED_TEST(Keeps, MadeByCallOnce) {
  EXPECT_EQ(MadeByCallOnce<TestFixture::kOf>().back(), TestFixture::kOf);
}

TYPED_TEST(Keeps, ThreadLocal) { EXPECT_EQ(TextOfThread<TestFixture::kOf>().size(), 100U); }

TYPED_TEST(Keeps, Singleton) { EXPECT_EQ(Singleton<TestFixture::kOf>::Get().words.size(), 2U); }

TYPED_TEST(Keeps, InternedString) {
  const std::string text = "a text that is longer than what a string has room for";
  EXPECT_EQ(&Interned<TestFixture::kOf>(text), &Interned<TestFixture::kOf>(text));
}

TYPED_TEST(Keeps, CompiledPattern) {
  EXPECT_TRUE(std::regex_match("size=12", Pattern<TestFixture::kOf>()));
}

TYPED_TEST(Keeps, ScratchMemory) { EXPECT_GE(Scratch<TestFixture::kOf>(4096).size(), 4096U); }

}  // namespace
