#include <gtest/gtest.h>

#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

TEST(ShortNameTest, DropsTheParameters) {
  EXPECT_EQ(ShortName("net::Pool::Grow(unsigned long) const"), "net::Pool::Grow");
}

TEST(ShortNameTest, DropsTemplateArgumentsAndTheReturnType) {
  EXPECT_EQ(ShortName("std::pair<int, bool> net::Make<int, std::vector<int> >(int)"), "net::Make");
  EXPECT_EQ(ShortName("std::vector<int, std::allocator<int> >::push_back(int&&)"),
            "std::vector::push_back");
}

TEST(ShortNameTest, KeepsAnonymousNamespaces) {
  EXPECT_EQ(ShortName("net::(anonymous namespace)::Grow(int)"), "net::(anonymous namespace)::Grow");
}

TEST(ShortNameTest, KeepsOperators) {
  EXPECT_EQ(ShortName("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(ShortName("net::Url::operator()(int) const"), "net::Url::operator()");
  EXPECT_EQ(ShortName("std::ostream& net::operator<<(std::ostream&, net::Url const&)"),
            "net::operator<<");
  EXPECT_EQ(ShortName("net::Ptr::operator->() const"), "net::Ptr::operator->");
}

TEST(ShortNameTest, TakesNoNameThatBeginsLikeAnOperatorForOne) {
  EXPECT_EQ(ShortName("net::operators::Find<int>(int)"), "net::operators::Find");
}

TEST(ShortNameTest, ShortensLambdasAndKeepsWhereTheyAre) {
  EXPECT_EQ(ShortName("net::Pool::Grow(unsigned long)::{lambda(int)#1}::operator()(int) const"),
            "net::Pool::Grow::{lambda}::operator()");
  EXPECT_EQ(ShortName("net::Pool::Size() const::Local::Run()"), "net::Pool::Size::Local::Run");
}

TEST(ShortNameTest, LeavesACFunctionAsItIs) { EXPECT_EQ(ShortName("strdup"), "strdup"); }

TEST(ShortNameTest, TakesATemplateArgumentWithAnArrowAsOne) {
  EXPECT_EQ(ShortName("auto net::Call<decltype (a->b)>(int)"), "net::Call");
}

TEST(ShortNameTest, LeavesWhatItCannotReadAsItIs) {
  EXPECT_EQ(ShortName("(broken"), "(broken");
  EXPECT_EQ(ShortName(""), "");
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

TEST(ReadableNameTest, CutsTemplateArgumentsBeforeTheMiddle) {
  const std::string arguments(100, 'x');
  EXPECT_EQ(ReadableName("int net::Map<" + arguments + ">::Put(int)"), "net::Map<..>::Put");
  EXPECT_EQ(ReadableName("net::Map<int>::Put(int)"), "net::Map<int>::Put");
  EXPECT_EQ(ReadableName("net::" + std::string(100, 'a') + "::" + std::string(100, 'b')).size(),
            80);
}

TEST(CutMiddleTest, KeepsTheBeginningAndTheEnd) {
  EXPECT_EQ(CutMiddle("0123456789", 10), "0123456789");
  EXPECT_EQ(CutMiddle("0123456789", 9), "01 ... 89");
  EXPECT_EQ(CutMiddle("0123456789", 8), "0 ... 89");
  EXPECT_EQ(CutMiddle("0123456789", 0), " ... ");
  EXPECT_EQ(CutMiddle("", 0), "");
}

TEST(CutMiddleTest, KeepsCharactersWhole) {
  EXPECT_EQ(CutMiddle("äöüäöüäöüä", 9), "äö ... üä");
  EXPECT_EQ(CutMiddle("äöü", 3), "äöü");
}

}  // namespace
}  // namespace leakgate
