// Tests whose names and values are as bad as GoogleTest lets them be. None leaks
// but those that say so.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

static int* volatile made = nullptr;

TEST(Plain, Passes) {}
TEST(Plain, Skips) { GTEST_SKIP(); }
TEST(Plain, DISABLED_Never) { made = new int(1), made = nullptr; }
#if DISCOVER_MORE
TEST(Plain, IsNew) {}
#endif
TEST(DISABLED_Suite, Never) {}

class Values : public testing::TestWithParam<std::string> {};
TEST_P(Values, AreTold) {}
INSTANTIATE_TEST_SUITE_P(Of, Values,
                         testing::Values("plain", "two words", "a;b", "[", "]]==]", "\"q\" 'q'",
                                         "# GetParam() = 1", "back\\slash",
                                         "${HOME} @x@ $ENV{HOME}", "<&>", "line\nbreak"));

// Two values that read alike.
struct Opaque {
  int number;
};
void PrintTo(const Opaque&, std::ostream* out) { *out << "opaque"; }
class Alike : public testing::TestWithParam<Opaque> {};
TEST_P(Alike, AreToldApart) {}
INSTANTIATE_TEST_SUITE_P(Both, Alike, testing::Values(Opaque{1}, Opaque{2}));

class Named : public testing::TestWithParam<int> {};
TEST_P(Named, KeepsItsName) {}
INSTANTIATE_TEST_SUITE_P(By, Named, testing::Values(7),
                         [](const auto&) { return std::string("Hand"); });

// Nothing instantiates it.
class Empty : public testing::TestWithParam<int> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Empty);
TEST_P(Empty, IsNotThere) {}

template <typename T>
class Typed : public testing::Test {};
struct StrangeNames {
  template <typename T>
  static std::string GetName(int index) {
    return index == 0 ? "an int; [really]" : "";
  }
};
using TwoTypes = testing::Types<int, char>;
TYPED_TEST_SUITE(Typed, TwoTypes, StrangeNames);
TYPED_TEST(Typed, Runs) {}

template <typename T>
class Pattern : public testing::Test {};
TYPED_TEST_SUITE_P(Pattern);
TYPED_TEST_P(Pattern, Runs) {}
REGISTER_TYPED_TEST_SUITE_P(Pattern, Runs);
INSTANTIATE_TYPED_TEST_SUITE_P(My, Pattern, TwoTypes);

class Registered : public testing::Test {
 public:
  explicit Registered(bool leaks) : leaks_(leaks) {}
  void TestBody() override {
    if (leaks_) made = new int(1), made = nullptr;
  }

 private:
  const bool leaks_;
};

void Register(const char* suite, const char* test, bool leaks = false) {
  testing::RegisterTest(suite, test, nullptr, nullptr, __FILE__, __LINE__,
                        [=]() -> testing::Test* { return new Registered(leaks); });
}

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  Register("A suite; of [its] own", "it's \"quoted\" # 5 - a:b, 100% \\ $HOME ${X}");
  Register("A suite; of [its] own", "]==] leaks: - \"it\"", true);
  Register("Lines", "one\ntwo");
  return RUN_ALL_TESTS();
}
