// Frames and rules of programs of Windows, whose stacks begin in the C library: the agent sees what
// that asks the system's heap for.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runner/attribution/call_sites.h"
#include "runner/attribution/code_owner.h"
#include "runner/attribution/framework_rules.h"
#include "runner/attribution/stack_pattern.h"
#include "tests/unit/attribution/frames.h"

namespace leakgate {
namespace {

Frame InProgram(const std::string& function, const std::string& called = "") {
  Frame frame = InModule("C:/src/build/net_test.exe", function);
  frame.called_function = called;
  return frame;
}

Frame InSystem(const std::string& dll, const std::string& function = "") {
  return InModule("C:/Windows/System32/" + dll, function);
}

std::string RuleOf(const std::vector<Frame>& stack) {
  return MatchFrameworkRule(stack, UnwindEnd::kOutermost).value_or("");
}

TEST(WindowsFramesTest, KnowRuntimesByTheirDllsInAnyCase) {
  EXPECT_EQ(OriginOf(InSystem("ucrtbase.dll")), FrameOrigin::kCLibrary);
  EXPECT_EQ(OriginOf(InSystem("NTDLL.DLL")), FrameOrigin::kCLibrary);
  EXPECT_EQ(OriginOf(InSystem("msvcp140d.dll")), FrameOrigin::kCppRuntime);
  EXPECT_EQ(OriginOf(InModule("C:/msys64/ucrt64/bin/libstdc++-6.dll", "f")),
            FrameOrigin::kCppRuntime);
  EXPECT_EQ(OriginOf(InModule("C:/src/build/gtestd.dll", "f")), FrameOrigin::kGoogleTest);
  EXPECT_EQ(OriginOf(InModule("C:/src/build/leakgate_agent64.dll", "f")), FrameOrigin::kAgent);
  EXPECT_EQ(OriginOf(InModule("C:/src/build/net.dll", "f")), FrameOrigin::kUser);
}

TEST(WindowsFramesTest, KnowRuntimesThatAreLinkedInByTheirFunctions) {
  EXPECT_EQ(OriginOf(InProgram("pthread_create")), FrameOrigin::kCLibrary);
  EXPECT_EQ(OriginOf(InProgram("__scrt_common_main_seh")), FrameOrigin::kCLibrary);
  EXPECT_EQ(OriginOf(InProgram("net::pthread_create")), FrameOrigin::kUser);
  Frame own = InProgram("pthread_create");
  own.file = "C:/src/net/threads.c";
  EXPECT_EQ(OriginOf(own), FrameOrigin::kUser);
  EXPECT_EQ(OriginOf(In("pthread_create")), FrameOrigin::kUser) << "of a program of Linux";
}

TEST(WindowsFramesTest, KnowTheCppLibrarysHeadersWhereverTheyAre) {
  Frame frame = InProgram("push_back_slowly");
  frame.file = "C:/Program Files/Microsoft Visual Studio/2022/VC/Tools/MSVC/14.44.1/include/vector";
  EXPECT_EQ(OriginOf(frame), FrameOrigin::kCppRuntime);
  frame.file = "C:/msys64/ucrt64/include/c++/13.2.0/bits/stl_vector.h";
  EXPECT_EQ(OriginOf(frame), FrameOrigin::kCppRuntime);
}

TEST(WindowsFramesTest, BlameTheUsersFunctionAndNotTheSystems) {
  const std::vector<Frame> stack = {InSystem("ucrtbase.dll", "_malloc_base"),
                                    InSystem("ole32.dll", "CoTaskMemAlloc"), InProgram("net::Open"),
                                    InProgram("main")};
  EXPECT_EQ(FindUserFrame(stack), 2u);
}

TEST(WindowsFramesTest, TellWhichFunctionOfTheCLibraryAllocated) {
  const std::vector<Frame> by_import = {InSystem("msvcrt.dll", "msvcrt_heap_alloc"),
                                        InSystem("msvcrt.dll", "calloc"),
                                        InProgram("net::Open()", "calloc")};
  EXPECT_EQ(FindAllocatorCall(by_import).frames, 2u);
  EXPECT_EQ(FindAllocatorCall(by_import).kind, AllocationKind::kCalloc);
  const std::vector<Frame> linked_in = {InProgram("_realloc_base"), InProgram("realloc"),
                                        InProgram("net::Open()")};
  EXPECT_EQ(FindAllocatorCall(linked_in).kind, AllocationKind::kRealloc);
}

TEST(WindowsFramesTest, TellWindowsOwnAllocationsApartFromTheCLibrarys) {
  const auto kind_of = [](std::vector<Frame> stack) { return FindAllocatorCall(stack).kind; };
  EXPECT_EQ(kind_of({InProgram("net::Open()", "HeapAlloc")}), AllocationKind::kHeap);
  EXPECT_EQ(kind_of({InSystem("KERNELBASE.dll", "LocalAlloc"), InProgram("net::Open()")}),
            AllocationKind::kHeap);
  EXPECT_EQ(kind_of({InSystem("ole32.dll", "CoTaskMemAlloc"), InProgram("net::Open()")}),
            AllocationKind::kHeap);
  EXPECT_EQ(kind_of({InSystem("UCRTBASE.dll", "_strdup"), InProgram("net::Open()")}), std::nullopt);
  EXPECT_EQ(kind_of({In("f"), In("main")}), std::nullopt) << "of a program of Linux";
}

TEST(WindowsFramesTest, TellAnArrayOperatorThatJumpedToTheOther) {
  CallSites sites([](std::uint32_t) {
    Frame inlined = InProgram("net::Pool::Grow()");
    inlined.inlined = true;
    return ResolvedStack{
        {InSystem("msvcrt.dll", "malloc"), InProgram("operator new(unsigned long long)", "malloc"),
         inlined, InProgram("net::Open()", "_Znay")},
        UnwindEnd::kOutermost};
  });
  EXPECT_EQ(sites.Of(1).kind, AllocationKind::kNewArray);
}

TEST(WindowsFramesTest, TellWhichOperatorTheUserCalled) {
  CallSites sites([](std::uint32_t) {
    return ResolvedStack{
        {InSystem("msvcrt.dll", "malloc"), InProgram("operator new(unsigned long long)", "malloc"),
         InProgram("operator new[](unsigned long long)"), InProgram("net::Open()")},
        UnwindEnd::kOutermost};
  });
  EXPECT_EQ(sites.Of(1).kind, AllocationKind::kNewArray);
}

TEST(WindowsFramesTest, LeaveTheDebugRuntimesHeaderOut) {
  const std::vector<Frame> by_library = {
      InSystem("ntdll.dll", "RtlAllocateHeap"), InSystem("ucrtbased.dll", "_malloc_dbg"),
      InSystem("ucrtbased.dll", "malloc"), InProgram("net::Open()", "malloc")};
  EXPECT_TRUE(FindAllocatorCall(by_library).is_debug);
  EXPECT_TRUE(
      FindAllocatorCall(std::vector{InProgram("heap_alloc_dbg_internal"), InProgram("_malloc_dbg"),
                                    InProgram("malloc"), InProgram("net::Open()")})
          .is_debug)
      << "linked in";
  EXPECT_FALSE(FindAllocatorCall(std::vector{InSystem("ucrtbased.dll", "_malloc_base"),
                                             InProgram("net::Open()", "_malloc_base")})
                   .is_debug);
  EXPECT_FALSE(
      FindAllocatorCall(std::vector{InSystem("ucrtbase.dll", "malloc"), InProgram("net::Open()")})
          .is_debug);
  CallSites sites([&](std::uint32_t) { return ResolvedStack{by_library, UnwindEnd::kOutermost}; });
  const LiveBlock users = sites.UsersPart({.address = 0x1000, .size_bytes = 76, .stack = 1});
  EXPECT_EQ(users.address, 0x1030U);
  EXPECT_EQ(users.size_bytes, 24U);
  const std::vector<Finding> findings =
      GroupFindings({{.address = 0x1000, .size_bytes = 76, .stack = 1}}, {}, sites);
  EXPECT_EQ(findings.at(0).amount, (Amount{24, 1}));
}

TEST(WindowsFramesTest, TellNoAllocatorWhereTheUsersFunctionOnlyHasItsName) {
  EXPECT_EQ(FindAllocatorCall(std::vector{InProgram("net::calloc"), InProgram("main")}).frames, 0u);
  EXPECT_EQ(FindAllocatorCall(
                std::vector{InSystem("msvcrt.dll", "_strdup"), InProgram("net::Open()", "_strdup")})
                .frames,
            0u)
      << "a function that keeps the block, or makes one of its own";
  EXPECT_EQ(FindAllocatorCall(std::vector{In("calloc"), In("main")}).frames, 0u)
      << "of a program of Linux";
}

TEST(WindowsFramesTest, MatchGoogleTestBehindTheAllocator) {
  EXPECT_EQ(RuleOf({InSystem("msvcrt.dll", "malloc"),
                    InProgram("operator new(unsigned long long)", "malloc"),
                    InProgram("testing::internal::Mutex::ThreadSafeLazyInit()")}),
            "gtest.mutexes");
  EXPECT_EQ(RuleOf({InSystem("ucrtbase.dll", "_malloc_base"), InProgram("malloc"),
                    InProgram("operator new"), InProgram("testing::UnitTest::PushGTestTrace")}),
            "gtest.traces")
      << "with a runtime that is linked in";
  EXPECT_EQ(
      RuleOf({InSystem("msvcrt.dll", "malloc"),
              InProgram("operator new(unsigned long long)", "malloc"),
              InProgram("net::Printer::Print()"), InProgram("testing::UnitTest::PushGTestTrace")}),
      "")
      << "a function of the user's is between";
}

TEST(WindowsFramesTest, MatchWhatWinpthreadsMakesAtFirstUse) {
  EXPECT_EQ(RuleOf({InSystem("msvcrt.dll", "malloc"), InProgram("mutex_impl_init", "malloc"),
                    InProgram("pthread_mutex_lock"), InProgram("net::Open")}),
            "libc.mutexes");
  EXPECT_EQ(RuleOf({InSystem("msvcrt.dll", "malloc"), InProgram("mutex_impl_init", "malloc"),
                    InProgram("pthread_mutex_init"), InProgram("net::Open")}),
            "")
      << "who calls it is to call pthread_mutex_destroy";
  EXPECT_EQ(RuleOf({InSystem("msvcrt.dll", "calloc"),
                    InModule("C:/bin/libwinpthread-1.dll", "pthread_create"),
                    InModule("C:/bin/libstdc++-6.dll", "std::thread::_M_start_thread")}),
            "libc.threads");
}

TEST(WindowsFramesTest, MatchWhatTheCLibraryKeepsButNotWhatItHandsOut) {
  EXPECT_EQ(RuleOf({InSystem("msvcrt.dll", "malloc"), InSystem("msvcrt.dll"),
                    InProgram("net::Open", "setlocale")}),
            "libc.locale");
  EXPECT_EQ(RuleOf({InSystem("ucrtbase.dll", "_malloc_base"), InSystem("ucrtbase.dll"),
                    InProgram("net::Open", "_localtime64")}),
            "libc.thread-buffers");
  EXPECT_EQ(RuleOf({InSystem("msvcrt.dll", "malloc"), InSystem("msvcrt.dll", "_strdup"),
                    InProgram("net::Open", "_strdup")}),
            "");
  EXPECT_EQ(RuleOf({InSystem("msvcrt.dll", "malloc"), InProgram("net::Open", "malloc")}), "");
}

TEST(WindowsFramesTest, LeaveRulesOfWindowsToWindows) {
  EXPECT_EQ(RuleOf({InLibc("fputs"), Calling("net::Open", "fputs")}), "")
      << "fputs to a stream of open_memstream makes the user's block";
}

TEST(WindowsFramesTest, MatchTheRuntimesStartButNoUsersInitialiser) {
  const Frame start = InSystem("ntdll.dll", "RtlUserThreadStart");
  EXPECT_EQ(
      RuleOf({InSystem("msvcrt.dll", "malloc"),
              InProgram("_GLOBAL__sub_I__ZN9__gnu_cxx9__freeresEv", "malloc"),
              InProgram("__do_global_ctors"), InProgram("__tmainCRTStartup"),
              InProgram("mainCRTStartup"), InSystem("kernel32.dll", "BaseThreadInitThunk"), start}),
      "runtime.start-up");
  EXPECT_EQ(
      RuleOf({InSystem("msvcrt.dll", "malloc"), InProgram("_GLOBAL__sub_I_net", "malloc"),
              InProgram("__do_global_ctors"), InProgram("__tmainCRTStartup"),
              InProgram("mainCRTStartup"), InSystem("kernel32.dll", "BaseThreadInitThunk"), start}),
      "");
}

// Without debug information, the user's function that is inlined there has no frame.
TEST(WindowsFramesTest, TakeNoThreadOfTheUsersForTheRuntimesStart) {
  const Frame begin = InSystem("kernel32.dll", "BaseThreadInitThunk");
  const Frame start = InSystem("ntdll.dll", "RtlUserThreadStart");
  EXPECT_EQ(RuleOf({InSystem("msvcrt.dll", "malloc"),
                    InProgram("std::thread::_State_impl<std::thread::_Invoker<std::tuple<"
                              "net::Start()::{lambda()#1}> > >::_M_run()"),
                    InSystem("libstdc++-6.dll", "execute_native_thread_routine"),
                    InSystem("libwinpthread-1.dll", "pthread_create_wrapper"), begin, start}),
            "");
  EXPECT_EQ(RuleOf({InSystem("msvcrt.dll", "msvcrt_get_thread_data"),
                    InSystem("msvcrt.dll", "_beginthreadex_trampoline"), begin, start}),
            "runtime.start-up")
      << "what the C library keeps for the thread";
}

TEST(WindowsFramesTest, MatchTheStartOfLibstdcppInALibraryThatTheProgramLoads) {
  const auto in_library = [](const std::string& function) {
    return InModule("C:/src/build/plugin.dll", function);
  };
  const std::vector<Frame> loading = {in_library("__do_global_ctors"),
                                      in_library("__DllMainCRTStartup"),
                                      InSystem("ntdll.dll", "LdrLoadDll"),
                                      InSystem("kernelbase.dll", "LoadLibraryA"),
                                      InProgram("net::Load"),
                                      InProgram("main")};
  std::vector<Frame> pool = {InSystem("msvcrt.dll", "malloc"),
                             in_library("_GLOBAL__sub_I__ZN9__gnu_cxx9__freeresEv")};
  pool.insert(pool.end(), loading.begin(), loading.end());
  EXPECT_EQ(RuleOf(pool), "runtime.start-up");
  pool[1] = in_library("_GLOBAL__sub_I_net");
  EXPECT_EQ(RuleOf(pool), "") << "a static object of the user's";
}

TEST(WindowsFramesTest, MatchRuntimesDllsAlsoWithTheirDebugInformation) {
  Frame emutls = InModule("C:/msys64/mingw64/bin/libgcc_s_seh-1.dll", "emutls_alloc");
  emutls.file = "/build/gcc/libgcc/emutls.c";
  Frame outer = emutls;
  outer.function = "__emutls_get_address";
  EXPECT_EQ(RuleOf({InSystem("msvcrt.dll", "malloc"), emutls, outer, InProgram("net::Open")}),
            "libc.threads");
  Frame at_exit =
      InModule("C:/msys64/mingw64/bin/libstdc++-6.dll", "__cxxabiv1::__cxa_thread_atexit");
  EXPECT_EQ(RuleOf({InSystem("msvcrt.dll", "malloc"), at_exit, InProgram("net::Open")}),
            "libc.exit-handlers");
  emutls.module = outer.module = InProgram("").module;
  EXPECT_EQ(RuleOf({InSystem("msvcrt.dll", "malloc"), emutls, outer, InProgram("net::Open")}), "")
      << "a function of the user's, of the same name";
}

bool Matches(const std::string& pattern, const std::string& file) {
  Frame frame = InProgram("net::Open");
  frame.file = file;
  return MatchesStack({pattern}, std::vector<Frame>{frame});
}

TEST(WindowsFramesTest, MatchPatternsOfFilesWithEitherSlashAndCase) {
  EXPECT_TRUE(Matches("net/*.cpp", "C:/src/net/pool.cpp"));
  EXPECT_TRUE(Matches("net\\*.cpp", "C:/src/net/pool.cpp"));
  EXPECT_TRUE(Matches("Net/Pool.cpp", "C:/src/net/pool.cpp"));
  EXPECT_TRUE(Matches("c:\\src\\*", "C:/src/net/pool.cpp"));
  EXPECT_TRUE(Matches("/src/net/*", "C:/src/net/pool.cpp")) << "on any drive";
  EXPECT_FALSE(Matches("et/pool.cpp", "C:/src/net/pool.cpp"));
  EXPECT_FALSE(Matches("D:/src/*", "C:/src/net/pool.cpp"));
  EXPECT_FALSE(Matches("Net/Pool.cpp", "/src/net/pool.cpp")) << "elsewhere, the case matters";
}

TEST(WindowsFramesTest, MatchPatternsOfModulesInAnyCase) {
  Frame frame = InModule("C:/src/build/Net.DLL", "f");
  EXPECT_TRUE(MatchesStack({"module:net*.dll"}, std::vector<Frame>{frame}));
  EXPECT_FALSE(MatchesStack({"module:et.dll"}, std::vector<Frame>{frame}));
}

}  // namespace
}  // namespace leakgate
