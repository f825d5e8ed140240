#include "runner/attribution/code_owner.h"

#include <gtest/gtest.h>

#include "tests/unit/attribution/frames.h"

namespace leakgate {
namespace {

BudgetFile Owning(const std::string& component, const CodePatterns& code) {
  BudgetFile file;
  file.component = component;
  file.code = code;
  return file;
}

const BudgetFile kNet = Owning("net", {{"src/net/*"}, {}, {}});
const BudgetFile kPool = Owning("pool", {{"src/net/pool.*"}, {}, {}});
const BudgetFile kDisk = Owning("disk", {{}, {"disk::*"}, {}});
const BudgetFile kPlugin = Owning("plugin", {{}, {}, {"libplugin.so*"}});
const BudgetFile kRest = Owning(kUnowned, {});

TEST(CodeOwnerTest, IsWhoOwnsTheInnermostUserFrame) {
  const std::vector<Frame> stack = {At("/w/src/net/client.cc", "net::Connect()"),
                                    In("disk::Open()")};
  EXPECT_EQ(OwnerOf({&kNet, &kDisk}, stack), &kNet);
  EXPECT_EQ(OwnerOf({&kDisk}, stack), &kDisk);
}

TEST(CodeOwnerTest, PassesOverFramesOfTheRuntime) {
  const BudgetFile all = Owning("all", {{}, {"*"}, {}});
  EXPECT_EQ(OwnerOf({&all}, {InLibstdcxx("operator new(unsigned long)"), InLibc("strdup")}),
            nullptr);
}

// It is inline, and may lie anywhere.
TEST(FrameOriginTest, TakesRunAllTestsForGoogleTests) {
  EXPECT_EQ(OriginOf(At("/home/me/include/gtest/gtest.h", "RUN_ALL_TESTS()")),
            FrameOrigin::kGoogleTest);
}

TEST(FrameOriginTest, KnowsOtherTestFrameworks) {
  EXPECT_EQ(OriginOf(In("Catch::Session::run()")), FrameOrigin::kOtherTestFramework);
  EXPECT_EQ(OriginOf(At("/w/doctest/doctest.h", "doctest::Context::run()")),
            FrameOrigin::kOtherTestFramework);
  EXPECT_EQ(OriginOf(InModule("/lib/libboost_unit_test_framework.so.1.81.0", "")),
            FrameOrigin::kOtherTestFramework);
}

TEST(FrameOriginTest, LeavesToTheUserWhatIsInAFrameworksNamespaceAndElsewhere) {
  EXPECT_EQ(OriginOf(At("/w/tests/packet.h", "Catch::StringMaker<Packet>::convert(Packet)")),
            FrameOrigin::kUser);
  EXPECT_EQ(OriginOf(In("doctest_helpers::Open()")), FrameOrigin::kUser);
}

TEST(FrameOriginTest, TakesLeakgatesHeadersForTheAgents) {
  EXPECT_EQ(OriginOf(In("leakgate::internal::TestWindows::EndIteration()")), FrameOrigin::kAgent);
}

TEST(CodeOwnerTest, IsTheOneWithTheLongestPattern) {
  EXPECT_EQ(OwnerOf({&kNet, &kPool}, {At("/w/src/net/pool.cc", "net::Grow()")}), &kPool);
  EXPECT_EQ(OwnerOf({&kPool, &kNet}, {At("/w/src/net/pool.cc", "net::Grow()")}), &kPool);
  EXPECT_EQ(OwnerOf({&kNet, &kPool}, {At("/w/src/net/tls.cc", "net::Tls()")}), &kNet);
}

TEST(CodeOwnerTest, MayBeToldByTheModule) {
  EXPECT_EQ(OwnerOf({&kPlugin}, {InModule("/opt/libplugin.so.1", "")}), &kPlugin);
}

TEST(CodeOwnerTest, IsUnownedOnlyIfNoFrameIsAnyones) {
  EXPECT_EQ(OwnerOf({&kRest, &kNet}, {In("other::Run()")}), &kRest);
  EXPECT_EQ(OwnerOf({&kRest, &kDisk}, {In("other::Run()"), In("disk::Open()")}), &kDisk);
  EXPECT_EQ(OwnerOf({&kNet}, {In("other::Run()")}), nullptr);
  EXPECT_EQ(OwnerOf({&kRest}, {}), &kRest);
}

TEST(UserCodeTest, FindsTheInnermostFrameOfTheUsers) {
  const std::vector<Frame> stack = {
      InAgent(), InLibstdcxx("std::string::_M_create(unsigned long&, unsigned long)"),
      In("net::Pool::Grow(unsigned long)"), In("PoolTest_Grows_Test::TestBody()"),
      In("testing::Test::Run()")};

  EXPECT_EQ(FindUserFrame(stack), 2U);
}

TEST(UserCodeTest, FindsNoneWhereAllIsTheRuntimes) {
  EXPECT_EQ(FindUserFrame({InLibstdcxx(), InLoader("_dl_init")}), std::nullopt);
}

// A header of the system's, inlined into the user's code.
TEST(UserCodeTest, IsInTheUsersCodeThatUsesALibrarysHeader) {
  Frame header;
  header.function = "SQLite::Statement::Statement()";
  header.file = "/usr/include/SQLiteCpp/Statement.h";
  header.module = "/home/me/build/tests";
  Frame own = header;
  own.function = "MakeStatement()";
  own.file = "/home/me/tests/statement.cc";
  EXPECT_EQ(FindUserFrame({header, own}), 1U);
  EXPECT_EQ(FindUserFrame({header}), 0U);
}

TEST(UserCodeTest, CountsAnUnknownFunctionOfTheProgramAsTheUsers) {
  EXPECT_TRUE(IsUserFrame(In("")));
}

TEST(UserCodeTest, CountsAFrameInNoModuleAsTheUsers) { EXPECT_TRUE(IsUserFrame(InModule("", ""))); }

TEST(UserCodeTest, CountsCCodeInASystemLibraryAsTheUsers) {
  EXPECT_TRUE(IsUserFrame(InModule("/usr/lib/x86_64-linux-gnu/libz.so.1", "deflateInit_")));
}

TEST(UserCodeTest, CountsFunctionsOutsideTheRuntimesNamespacesAsTheUsers) {
  for (const char* const function :
       {"main", "net::std::Pool::Grow()", "std_pool::Grow()",
        "std::unique_ptr<net::Pool> net::Make<net::Pool>(int)", "mytesting::Run()",
        "(anonymous namespace)::Make()", "net::Pool::operator new(unsigned long)",
        "net::Run(std::function<void ()>)"}) {
    EXPECT_TRUE(IsUserFrame(In(function))) << function;
  }
}

TEST(UserCodeTest, LeavesOutFunctionsOfTheRuntimesNamespaces) {
  for (const char* const function :
       {"std::vector<int>::reserve(unsigned long)",
        "void std::vector<net::Pool>::_M_realloc_insert<net::Pool>(net::Pool&&)",
        "__gnu_cxx::new_allocator<net::Pool>::allocate(unsigned long, void const*)",
        "std::__cxx11::basic_string<char>::_M_create(unsigned long&, unsigned long)",
        "operator new(unsigned long)", "operator new[](unsigned long)", "operator delete(void*)",
        "testing::Test::Run()",
        "void testing::internal::HandleExceptionsInMethodIfSupported<testing::Test, "
        "void>(testing::Test*, void (testing::Test::*)(), char const*)",
        "_ZNK7testing8internal12ReturnActionINSt7__cxx1112basic_stringIc"}) {
    EXPECT_FALSE(IsUserFrame(In(function))) << function;
  }
}

TEST(UserCodeTest, LeavesOutModulesOfTheRuntime) {
  for (const char* const module :
       {"/lib/libc.so.6", "/lib/libc-2.31.so", "/lib64/ld-linux-x86-64.so.2", "/lib/ld-2.31.so",
        "/lib/libm.so.6", "/lib/libpthread-2.31.so", "[vdso]", "/usr/lib/libstdc++.so.6.0.30",
        "/usr/lib/libgcc_s.so.1", "/opt/libc++.so.1", "/opt/libc++abi.so.1",
        "/usr/lib/libgtest.so.1.12.1", "/opt/libgmockd.so", "/usr/lib/libgmock_main.so.1.12.1",
        "/opt/leakgate/libleakgate_agent.so"}) {
    EXPECT_FALSE(IsUserFrame(InModule(module, ""))) << module;
  }
}

TEST(UserCodeTest, CountsModulesOfLikeNamesAsTheUsers) {
  for (const char* const module :
       {"/src/libcache.so", "/src/libc-ares.so.2", "/src/libmine.so", "/src/libc++utils.so",
        "/src/libm-3d.so", "/src/librt-1.0.so", "/src/libm-3.so", "/src/libdl-2.x.so",
        "/src/ld_test", "/src/libc", "/src/libgtest_helpers.so", "/src/libc.so.6.d/net.so"}) {
    EXPECT_TRUE(IsUserFrame(InModule(module, ""))) << module;
  }
}

TEST(UserCodeTest, LeavesOutInlineCodeOfTheLibrariesHeaders) {
  Frame frame = In("allocate");  // debug information without scopes
  frame.file = "/usr/include/c++/12/bits/new_allocator.h";
  EXPECT_FALSE(IsUserFrame(frame));

  frame.file = "/usr/include/gtest/internal/gtest-internal.h";
  EXPECT_FALSE(IsUserFrame(frame));
}

TEST(UserCodeTest, KeepsCodeOfOtherHeaders) {
  Frame frame = In("allocate");
  frame.file = "/usr/include/boost/pool/pool.hpp";

  EXPECT_TRUE(IsUserFrame(frame));
}

}  // namespace
}  // namespace leakgate
