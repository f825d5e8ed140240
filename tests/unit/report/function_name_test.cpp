#include "runner/report/function_name.h"

#include <gtest/gtest.h>

namespace leakgate {
namespace {

TEST(QualifiedNameTest, DropsTheParameters) {
  EXPECT_EQ(QualifiedName("net::Pool::Grow(unsigned long) const"), "net::Pool::Grow");
}

TEST(QualifiedNameTest, DropsTemplateArgumentsAndTheReturnType) {
  EXPECT_EQ(QualifiedName("std::pair<int, bool> net::Make<int, std::vector<int> >(int)"),
            "net::Make");
  EXPECT_EQ(QualifiedName("std::vector<int, std::allocator<int> >::push_back(int&&)"),
            "std::vector::push_back");
}

TEST(QualifiedNameTest, KeepsAnonymousNamespaces) {
  EXPECT_EQ(QualifiedName("net::(anonymous namespace)::Grow(int)"),
            "net::(anonymous namespace)::Grow");
}

TEST(QualifiedNameTest, KeepsOperators) {
  EXPECT_EQ(QualifiedName("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(QualifiedName("net::Url::operator()(int) const"), "net::Url::operator()");
  EXPECT_EQ(QualifiedName("std::ostream& net::operator<<(std::ostream&, net::Url const&)"),
            "net::operator<<");
  EXPECT_EQ(QualifiedName("net::Ptr::operator->() const"), "net::Ptr::operator->");
}

TEST(QualifiedNameTest, TakesNoNameThatBeginsLikeAnOperatorForOne) {
  EXPECT_EQ(QualifiedName("net::operators::Find<int>(int)"), "net::operators::Find");
}

TEST(QualifiedNameTest, ShortensLambdasAndKeepsWhereTheyAre) {
  EXPECT_EQ(QualifiedName("net::Pool::Grow(unsigned long)::{lambda(int)#1}::operator()(int) const"),
            "net::Pool::Grow::{lambda}::operator()");
  EXPECT_EQ(QualifiedName("net::Pool::Size() const::Local::Run()"), "net::Pool::Size::Local::Run");
}

TEST(QualifiedNameTest, LeavesACFunctionAsItIs) {
  EXPECT_EQ(QualifiedName("strdup"), "strdup");
  EXPECT_EQ(QualifiedName("pool_grow [clone .cold]"), "pool_grow");
}

TEST(QualifiedNameTest, TakesATemplateArgumentWithAnArrowAsOne) {
  EXPECT_EQ(QualifiedName("auto net::Call<decltype (a->b)>(int)"), "net::Call");
}

TEST(QualifiedNameTest, LeavesWhatItCannotReadAsItIs) {
  EXPECT_EQ(QualifiedName("(broken"), "(broken");
  EXPECT_EQ(QualifiedName(""), "");
}

TEST(ReadableSignatureTest, LeavesAShortSignatureAlone) {
  EXPECT_EQ(ReadableSignature("net::Pool::Grow<int>(unsigned long)"),
            "net::Pool::Grow<int>(unsigned long)");
}

TEST(ReadableSignatureTest, SpellsStdStringSo) {
  EXPECT_EQ(ReadableSignature("Put(std::__cxx11::basic_string<char, std::char_traits<char>, "
                              "std::allocator<char> > const&)"),
            "Put(std::string const&)");
}

TEST(ReadableSignatureTest, CutsTemplateArgumentsOfALongSignatureFirst) {
  const std::string arguments(100, 'x');
  EXPECT_EQ(ReadableSignature("net::Map<" + arguments + ">::Put(int)"), "net::Map<..>::Put(int)");
}

TEST(ReadableSignatureTest, CutsParametersWhereThatIsNotEnough) {
  const std::string parameters(100, 'x');
  EXPECT_EQ(ReadableSignature("net::(anonymous namespace)::Put(" + parameters + ") const"),
            "net::(anonymous namespace)::Put(..) const");
}

TEST(ReadableSignatureTest, KeepsEmptyParametersEmpty) {
  const std::string arguments(100, 'x');
  EXPECT_EQ(ReadableSignature("net::Map<" + arguments + ">::Size()"), "net::Map<..>::Size()");
}

TEST(ReadableSignatureTest, DoesNotTakeAnOperatorForABracket) {
  const std::string parameters(100, 'x');
  EXPECT_EQ(ReadableSignature("net::operator<<(" + parameters + ")"), "net::operator<<(..)");
}

}  // namespace
}  // namespace leakgate
