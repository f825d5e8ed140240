#include "runner/symbols/name_text.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/support/processor_time.h"

namespace leakgate {
namespace {

struct NameCase {
  const char* function;
  const char* name;
};

class FunctionNameTest : public testing::TestWithParam<NameCase> {};

TEST_P(FunctionNameTest, LeavesTheQualifiedNameOfADemangledFunction) {
  EXPECT_EQ(QualifiedNameOf(GetParam().function), GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(
    Functions, FunctionNameTest,
    testing::Values(
        NameCase{"", ""}, NameCase{"main", "main"},
        NameCase{"net::Pool::Grow(unsigned long)", "net::Pool::Grow"},
        NameCase{"net::Pool::size() const", "net::Pool::size"},
        NameCase{"void std::vector<int, std::allocator<int> >::push_back(int const&)",
                 "std::vector<int, std::allocator<int> >::push_back"},
        NameCase{"std::unique_ptr<net::Pool> net::Make<net::Pool>(int)", "net::Make<net::Pool>"},
        NameCase{"decltype(auto) net::Visit<int>(int&&)", "net::Visit<int>"},
        NameCase{"decltype (declval<A>()()) net::Call<A>(A&)", "net::Call<A>"},
        NameCase{"unsigned long net::Count<int>()", "net::Count<int>"},
        NameCase{"(anonymous namespace)::Run(int)", "(anonymous namespace)::Run"},
        NameCase{"void (anonymous namespace)::Run<int>(int)", "(anonymous namespace)::Run<int>"},
        NameCase{"testing::(anonymous namespace)::Reactions()",
                 "testing::(anonymous namespace)::Reactions"},
        NameCase{"operator new(unsigned long)", "operator new"},
        NameCase{"operator new[](unsigned long)", "operator new[]"},
        NameCase{"net::Pool::operator new(unsigned long)", "net::Pool::operator new"},
        NameCase{"net::Call::operator()(int) const", "net::Call::operator()"},
        NameCase{"net::operator<<(std::ostream&, net::Url const&)", "net::operator<<"},
        NameCase{"std::ostream& net::operator<< <int>(std::ostream&, int)",
                 "net::operator<< <int>"},
        NameCase{"net::Url::operator->() const", "net::Url::operator->"},
        NameCase{"net::Url::operator bool() const", "net::Url::operator bool"},
        NameCase{"net::operators::Add(int)", "net::operators::Add"},
        NameCase{"net::Run(int)::{lambda(char)#1}::operator()(char) const",
                 "net::Run(int)::{lambda(char)#1}::operator()"},
        NameCase{"net::Pool::Run() const::{lambda()#1}::operator()() const",
                 "net::Pool::Run() const::{lambda()#1}::operator()"},
        NameCase{"net::Url::text[abi:cxx11]() const", "net::Url::text"},
        NameCase{"net::Broken<(", "net::Broken<("}));

TEST(BrokenFunctionNameTest, EndsForEveryBeginningOfAName) {
  const std::string function =
      "void (anonymous namespace)::A<int (*)(char), (x->y)>::operator()<B[2]>(int)::{lambda()#1}";
  for (std::size_t length = 0; length <= function.size(); ++length) {
    std::ignore = QualifiedNameOf(function.substr(0, length));
  }
}

std::string RepeatedPart(std::string_view part, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part;
  return text;
}

// A report may have names of functions that are megabytes long.
TEST(FunctionNameCostTest, IsAsMuchForEachByteHoweverLongTheNameIs) {
  std::size_t number = 0;  // what has been asked before is known
  for (const char* part : {"operator(a)::", "operator<(", "[abi:x]", "a[abi:", "decltype(",
                           "(a)::", "< ", "operator ", "a b"}) {
    const double growth = test::GrowthOfCost(
        10'000, [&](std::size_t count) { return RepeatedPart(part, count); },
        [&](const std::string& name) { (void)QualifiedNameOf(name + std::to_string(++number)); });
    EXPECT_LT(growth, test::kMostGrowth) << part;
  }
}

}  // namespace
}  // namespace leakgate
