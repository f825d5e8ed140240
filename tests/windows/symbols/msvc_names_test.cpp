#include "runner/symbols/nt/msvc_names.h"

#include <gtest/gtest.h>

namespace leakgate {
namespace {

TEST(MsvcNamesTest, SeparatesTemplateArgumentsByASpace) {
  EXPECT_EQ(ItaniumSpelling("std::vector<int,std::allocator<int> >::push_back"),
            "std::vector<int, std::allocator<int> >::push_back");
  EXPECT_EQ(ItaniumSpelling("std::map<int, int>::find"), "std::map<int, int>::find");
}

TEST(MsvcNamesTest, LeavesTheCommaOperatorAsItIs) {
  EXPECT_EQ(ItaniumSpelling("net::Pool::operator,"), "net::Pool::operator,");
}

TEST(MsvcNamesTest, SpellsAnonymousNamespacesAsOthersDo) {
  EXPECT_EQ(ItaniumSpelling("net::`anonymous namespace'::Make"),
            "net::(anonymous namespace)::Make");
  EXPECT_EQ(ItaniumSpelling("`anonymous-namespace'::Make"), "(anonymous namespace)::Make");
}

TEST(MsvcNamesTest, PutsLambdasIntoBraces) {
  EXPECT_EQ(ItaniumSpelling("net::Run::<lambda_1>::operator()"),
            "net::Run::{lambda_1}::operator()");
}

TEST(MsvcNamesTest, DemanglesWhatHasOnlyItsLinkersName) {
  EXPECT_EQ(ItaniumSpelling("_Znwy"), "operator new(unsigned long long)");
  EXPECT_EQ(ItaniumSpelling("_ZN3net4MakeEv"), "net::Make()");
}

TEST(MsvcNamesTest, LeavesKeysOfTypesOut) {
  EXPECT_EQ(ItaniumSpelling("Pool<class net::Block,enum Kind>::Grow"),
            "Pool<net::Block, Kind>::Grow");
  EXPECT_EQ(ItaniumSpelling("my_class ::f"), "my_class ::f");
}

}  // namespace
}  // namespace leakgate
