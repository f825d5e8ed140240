// For each match there is a test of a user's leak that looks much like it and must not match.
#include "runner/attribution/framework_rules.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/symbols/name_text.h"
#include "tests/unit/attribution/frames.h"

namespace leakgate {
namespace {

using Stack = std::vector<Frame>;

std::optional<std::string> Match(const Stack& stack, UnwindEnd end = UnwindEnd::kOutermost) {
  return MatchFrameworkRule(stack, end);
}

const Frame kTestBody = In("PoolTest_Grows_Test::TestBody()");
const Frame kRealloc = Calling(
    "void std::vector<testing::TestPartResult, std::allocator<testing::TestPartResult> >::"
    "_M_realloc_insert<testing::TestPartResult const&>(testing::TestPartResult const&)",
    "_Znwm");
const Frame kReport =
    In("testing::internal::DefaultGlobalTestPartResultReporter::ReportTestPartResult("
       "testing::TestPartResult const&)");
const Frame kAssert =
    In("testing::internal::AssertHelper::operator=(testing::Message const&) const");

TEST(FrameworkRulesTest, MatchesAResultThatGoogleTestKeeps) {
  EXPECT_EQ(Match({kRealloc, kReport, kAssert, kTestBody}), "gtest.results");
}

TEST(FrameworkRulesTest, LeavesAUsersListenerThatKeepsResults) {
  EXPECT_EQ(Match({kRealloc, In("Recorder::OnTestPartResult(testing::TestPartResult const&)"),
                   In("testing::internal::TestEventRepeater::OnTestPartResult("
                      "testing::TestPartResult const&)"),
                   kReport, kAssert, kTestBody}),
            std::nullopt);
}

const Frame kString = Calling("std::string::_M_create(unsigned long&, unsigned long)", "_Znwm");
const Frame kCatch2Test = In("CATCH2_INTERNAL_TEST_0()");

TEST(FrameworkRulesTest, MatchesWhatOtherFrameworksKeep) {
  EXPECT_EQ(Match({kString, In("Catch::RunContext::pushScopedMessage(Catch::MessageInfo const&)"),
                   kCatch2Test}),
            "catch2.own");
  EXPECT_EQ(Match({kString, In("doctest::String::String(char const*)"), In("Tested()")}),
            "doctest.own");
  EXPECT_EQ(
      Match({kString, InModule("/lib/libboost_unit_test_framework.so.1.81.0", ""), In("Tested()")}),
      "boost-test.own");
}

TEST(FrameworkRulesTest, MatchesAnotherFrameworksTemplatesOfItsOwnTypes) {
  EXPECT_EQ(Match({kString,
                   In("Catch::StreamingReporterBase<Catch::(anonymous namespace)::Console>::"
                      "sectionStarting(Catch::SectionInfo const&)"),
                   kCatch2Test}),
            "catch2.own");
}

TEST(FrameworkRulesTest, LeavesAnotherFrameworksTemplatesOfTheUsersTypes) {
  EXPECT_EQ(
      Match({kString, In("Catch::StringMaker<Packet, void>::convert(Packet const&)"), kCatch2Test}),
      std::nullopt);
  EXPECT_EQ(Match({kString, In("doctest::toString<std::vector<Packet> >()"), In("Tested()")}),
            std::nullopt);
}

TEST(FrameworkRulesTest, LeavesWhatTheUserMakesWithinAnotherFramework) {
  EXPECT_EQ(Match({kString, In("Reporter::testCaseEnded(Catch::TestCaseStats const&)"),
                   In("Catch::MultiReporter::testCaseEnded(Catch::TestCaseStats const&)")}),
            std::nullopt);
  EXPECT_EQ(Match({kString, CallingAPointer("Catch::TestInvokerAsFunction::invoke() const")}),
            std::nullopt);
}

TEST(FrameworkRulesTest, KnowsWhatAFixturesTearDownMakes) {
  const Frame run = In("testing::Test::Run()");
  const Frame add = In("Report::Add(char const*)");
  EXPECT_TRUE(IsOfTearDown({add, In("net::PoolTest::TearDown()"), run}));
  EXPECT_TRUE(IsOfTearDown({add, In("PoolTest::~PoolTest()"), In("testing::Test::DeleteSelf_()")}));
  EXPECT_FALSE(IsOfTearDown({add, In("PoolTest::SetUp()"), run}));
  EXPECT_FALSE(IsOfTearDown({add, In("Server::TearDown()"), kTestBody, run}));
  EXPECT_FALSE(IsOfTearDown({run}));
  EXPECT_FALSE(IsOfTearDown({add, In("PoolTest::TearDown()")}));
}

// The user's reporter ended in a jump to the vector's code, so it has no frame.
TEST(FrameworkRulesTest, LeavesAUsersReporterThatLeftNoFrame) {
  const Frame add_through_pointer =
      CallingAPointer("testing::UnitTest::AddTestPartResult(testing::TestPartResult::Type)");

  EXPECT_EQ(Match({kRealloc, add_through_pointer, kAssert, kTestBody}), std::nullopt);
}

TEST(FrameworkRulesTest, MatchesAThreadsStackOfTraces) {
  EXPECT_EQ(Match({Calling("testing::UnitTest::AddTestPartResult(testing::TestPartResult::Type)",
                           "_Znwm"),
                   kAssert, kTestBody}),
            "gtest.traces");
}

TEST(FrameworkRulesTest, MatchesThroughInlinedFunctions) {
  EXPECT_EQ(
      Match({Inlined("std::vector<testing::TestPartResult>::push_back"),
             Inlined("testing::TestResult::AddTestPartResult(testing::TestPartResult const&)"),
             Calling("testing::internal::SomeReporter::Report()", "_Znwm"), kTestBody}),
      "gtest.results");
}

TEST(FrameworkRulesTest, AsksTheMachinesFrameOfAnInlinedFunctionForItsCall) {
  EXPECT_EQ(
      Match({kRealloc,
             Inlined("testing::TestResult::AddTestPartResult(testing::TestPartResult const&)"),
             CallingAPointer("testing::internal::SomeReporter::Report()"), kTestBody}),
      std::nullopt);
}

TEST(FrameworkRulesTest, MatchesAValueThatGoogleTestBuildsForItself) {
  EXPECT_EQ(Match({InLibstdcxx("std::string::_M_create(unsigned long&, unsigned long)"),
                   In("testing::TestPartResult::TestPartResult(testing::TestPartResult const&)"),
                   kRealloc, kReport, kTestBody}),
            "gtest.results");
}

TEST(FrameworkRulesTest, LeavesTheSameValueBuiltForTheUser) {
  EXPECT_EQ(Match({InLibstdcxx("std::string::_M_create(unsigned long&, unsigned long)"),
                   In("testing::TestPartResult::TestPartResult(testing::TestPartResult const&)"),
                   kTestBody}),
            std::nullopt);
}

TEST(FrameworkRulesTest, MatchesARecordedProperty) {
  EXPECT_EQ(Match({InLibstdcxx("std::string::_M_create(unsigned long&, unsigned long)"),
                   In("testing::TestResult::RecordProperty(std::string const&, "
                      "testing::TestProperty const&)"),
                   kTestBody}),
            "gtest.properties");
}

TEST(FrameworkRulesTest, LeavesAFixturesConstructor) {
  EXPECT_EQ(Match({In("testing::internal::TestFactoryImpl<PoolTest_Grows_Test>::CreateTest()"),
                   In("testing::TestInfo::Run()")}),
            std::nullopt);
}

TEST(FrameworkRulesTest, LeavesWhatATestRunsIn) {
  EXPECT_EQ(Match({kTestBody, In("testing::Test::Run()"), In("testing::TestInfo::Run()")}),
            std::nullopt);
}

TEST(FrameworkRulesTest, MatchesTheRegistryOfMocks) {
  EXPECT_EQ(Match({In("testing::Mock::Register(void const*, "
                      "testing::internal::UntypedFunctionMockerBase*)"),
                   kTestBody}),
            "gmock.mocks");
}

TEST(FrameworkRulesTest, LeavesALeakedMocksExpectation) {
  EXPECT_EQ(
      Match({In("testing::internal::FunctionMocker<int (int)>::AddNewExpectation(char const*)"),
             kTestBody}),
      std::nullopt);
}

TEST(FrameworkRulesTest, LeavesALeakInAnAction) {
  EXPECT_EQ(
      Match({In("PoolTest_Grows_Test::TestBody()::{lambda(int)#1}::operator()(int) const"),
             In("testing::internal::FunctionMocker<int (int)>::InvokeWith(std::tuple<int>&&)"),
             kTestBody}),
      std::nullopt);
}

TEST(FrameworkRulesTest, LeavesALeakInAnActionThatWasInlined) {
  EXPECT_EQ(
      Match({In("testing::internal::FunctionMocker<int (int)>::InvokeWith(std::tuple<int>&&)"),
             kTestBody}),
      std::nullopt);
}

TEST(FrameworkRulesTest, LeavesAnActionsCapturedState) {
  EXPECT_EQ(
      Match({In("testing::internal::ReturnAction<int>::Impl<int>::Impl(int const&)"), kTestBody}),
      std::nullopt);
}

TEST(FrameworkRulesTest, MatchesTheReactionOfANiceMock) {
  EXPECT_EQ(Match({In("testing::(anonymous namespace)::SetReactionOnUninterestingCalls("
                      "unsigned long, testing::internal::CallReaction)"),
                   In("testing::NiceMock<MockPool>::NiceMock()"), kTestBody}),
            "gmock.reactions");
}

TEST(FrameworkRulesTest, LeavesANiceMocksConstructor) {
  EXPECT_EQ(Match({In("testing::NiceMock<MockPool>::NiceMock()"), kTestBody}), std::nullopt);
}

TEST(FrameworkRulesTest, MatchesGmocksThreadLocalSequence) {
  EXPECT_EQ(Match({In("testing::internal::ThreadLocal<testing::Sequence*>::"
                      "DefaultValueHolderFactory::MakeNewHolder() const"),
                   kTestBody}),
            "gmock.sequences");
}

TEST(FrameworkRulesTest, MatchesWhatAnInSequenceMakes) {
  EXPECT_EQ(Match({In("testing::InSequence::InSequence()"), kTestBody}), "gmock.sequences");
}

TEST(FrameworkRulesTest, LeavesAnInSequenceThatIsLeaked) {
  EXPECT_EQ(Match({kTestBody, In("testing::Test::Run()")}), std::nullopt);
}

TEST(FrameworkRulesTest, MatchesGoogleTestsThreadLocalsOfLibcxx) {
  EXPECT_EQ(
      Match({In("testing::internal::ThreadLocal<std::__1::vector<testing::internal::TraceInfo, "
                "std::__1::allocator<testing::internal::TraceInfo> > >::"
                "DefaultValueHolderFactory::MakeNewHolder() const"),
             kTestBody}),
      "gtest.traces");
  EXPECT_EQ(Match({In("testing::internal::ThreadLocal<std::__1::vector<net::Pool, "
                      "std::__1::allocator<net::Pool> > >::"
                      "DefaultValueHolderFactory::MakeNewHolder() const"),
                   kTestBody}),
            std::nullopt);
}

TEST(FrameworkRulesTest, MatchesWhatLibcxxKeepsForExceptions) {
  const Frame throws = InLibcxxabi("__cxa_throw");
  EXPECT_EQ(Match({InLibcxxabi(""), InLibcxxabi("__cxa_get_globals"), throws, kTestBody}),
            "runtime.exceptions");
}

TEST(FrameworkRulesTest, LeavesTheExceptionItself) {
  EXPECT_EQ(Match({InLibcxxabi(""), InLibcxxabi("__cxa_allocate_exception"), kTestBody}),
            std::nullopt);
  EXPECT_EQ(Match({In("__cxa_get_globals()"), kTestBody}), std::nullopt);
  EXPECT_EQ(Match({kTestBody, InLibcxxabi("__cxa_get_globals")}), std::nullopt);
}

TEST(FrameworkRulesTest, LeavesAThreadLocalOfTheUsersType) {
  EXPECT_EQ(Match({In("testing::internal::ThreadLocal<net::Pool*>::"
                      "DefaultValueHolderFactory::MakeNewHolder() const"),
                   kTestBody}),
            std::nullopt);
}

TEST(FrameworkRulesTest, LeavesALambdaWithinAListedFunction) {
  EXPECT_EQ(Match({In("testing::Mock::Register(void const*)::{lambda()#1}::operator()() const"),
                   kTestBody}),
            std::nullopt);
}

TEST(FrameworkRulesTest, LeavesAUsersFunctionThatAListedOneIsNamedIn) {
  EXPECT_EQ(Match({In("net::testing::Mock::Register(void const*)"), kTestBody}), std::nullopt);
}

TEST(FrameworkRulesTest, LeavesAUsersFunctionOfAListedOnesNameAndOtherParameters) {
  EXPECT_EQ(Match({In("testing::Mock::Register()"), kTestBody}), std::nullopt);
  EXPECT_EQ(Match({In("testing::Mock::Register(void const*)"), kTestBody}), std::nullopt);
  EXPECT_EQ(Match({In("testing::Mock::AllowLeak(int)"), kTestBody}), std::nullopt);
  EXPECT_EQ(Match({In("testing::Mock::AllowLeak(void const*)"), kTestBody}), "gmock.mocks");
}

TEST(FrameworkRulesTest, LeavesWhatTheCLibraryMadeForGoogleTest) {
  EXPECT_EQ(Match({InLibc("strdup"), kReport, kTestBody}), std::nullopt);
}

TEST(FrameworkRulesTest, SkipsTheAgentsFrames) {
  EXPECT_EQ(Match({InAgent(), kRealloc, kReport, kTestBody}), "gtest.results");
}

TEST(FrameworkRulesTest, LeavesAnEmptyStack) { EXPECT_EQ(Match({}), std::nullopt); }

class CLibraryRuleTest : public testing::TestWithParam<const char*> {};

TEST_P(CLibraryRuleTest, MatchesWhatTheProgramCalled) {
  EXPECT_NE(Match({InLibc(), InLibc(), Calling("net::Start()", GetParam()), kTestBody}),
            std::nullopt);
}

TEST_P(CLibraryRuleTest, LeavesAUsersFunctionOfThatName) {
  EXPECT_EQ(Match({In(GetParam()), Calling("net::Start()", GetParam()), kTestBody}), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Functions, CLibraryRuleTest,
                         testing::Values("setlocale", "tzset", "localtime_r", "setenv", "putenv",
                                         "__cxa_atexit", "dlopen", "pthread_create",
                                         "__tls_get_addr", "strerror"));

class CallersMemoryTest : public testing::TestWithParam<const char*> {};

TEST_P(CallersMemoryTest, IsNeverTheFrameworks) {
  EXPECT_EQ(Match({InLibc(GetParam()), Calling("net::Start()", GetParam()), kTestBody}),
            std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Functions, CallersMemoryTest,
                         testing::Values("strdup", "strndup", "asprintf", "getline", "fopen",
                                         "opendir", "getaddrinfo", "regcomp", "newlocale",
                                         "iconv_open", "realpath", "open_memstream"));

TEST(FrameworkRulesTest, BelievesTheCallersInstructionBeforeTheSymbol) {
  EXPECT_EQ(Match({InLibc("setenv"), Calling("net::Start()", "strdup"), kTestBody}), std::nullopt);
}

// The C library's debug information names tzset so. The caller is GoogleTest, because the test's
// last call was a jump.
TEST(FrameworkRulesTest, KnowsTheExportedFunctionByItsInnerName) {
  EXPECT_EQ(Match({InLibc("tzset_internal"), InLibc("__tzset"), CallingAPointer("Run()")}),
            "libc.time-zone");
}

TEST(FrameworkRulesTest, DoesNotTakeAnInnerNameForAnotherFunctions) {
  EXPECT_EQ(Match({InLibc("__strdup"), CallingAPointer("Run()")}), std::nullopt);
}

TEST(FrameworkRulesTest, TakesTheExportedFunctionWhereTheCallerCannotTell) {
  EXPECT_EQ(Match({InLibc(), InLibc("setlocale"), CallingAPointer("net::Start()"), kTestBody}),
            "libc.locale");
}

TEST(FrameworkRulesTest, LeavesACallByPointerOfWhatIsTheCallers) {
  EXPECT_EQ(Match({InLibc("strdup"), CallingAPointer("net::Start()"), kTestBody}), std::nullopt);
}

TEST(FrameworkRulesTest, LeavesAnInternalFunctionThatNobodyNames) {
  EXPECT_EQ(Match({InLibc(), In("net::Start()"), kTestBody}), std::nullopt);
}

TEST(FrameworkRulesTest, AsksTheMachinesFrameOfAnInlinedCaller) {
  EXPECT_EQ(Match({InLibc(), Inlined("net::Start()"), Calling("net::Main()", "tzset"), kTestBody}),
            "libc.time-zone");
}

TEST(FrameworkRulesTest, CountsTheCppRuntimeAsTheCLibrarysCaller) {
  Frame start = InLibstdcxx("std::thread::_M_start_thread()");
  start.called_function = "pthread_create";

  EXPECT_EQ(Match({InLoader(), InLibc(), start, kTestBody}), "libc.threads");
}

TEST(FrameworkRulesTest, LeavesWhatALoadedLibrarysInitialiserMakes) {
  EXPECT_EQ(Match({InModule("/src/plugin.so", "_GLOBAL__sub_I_plugin"), InLoader("_dl_init"),
                   Calling("net::Load()", "dlopen"), kTestBody}),
            std::nullopt);
}

TEST(FrameworkRulesTest, MatchesAStreamsBuffer) {
  EXPECT_EQ(Match({InLibc("_IO_file_doallocate"), InLibc("_IO_doallocbuf"),
                   Calling("net::Log()", "printf"), kTestBody}),
            "libc.stdio-buffer");
}

TEST(FrameworkRulesTest, MatchesTheTablesOfThreadsThatTheCLibraryStarts) {
  EXPECT_EQ(Match({InLoader(), InLoader("_dl_allocate_tls"), InLibc("pthread_create"), InLibc(),
                   InLibc()}),
            "libc.threads");
  EXPECT_EQ(Match({InLoader(), InLoader("_dl_allocate_tls"), InLibc("pthread_create"), InLibc(),
                   Calling("net::Tick()", "timer_create"), kTestBody}),
            "libc.threads");
}

TEST(FrameworkRulesTest, LeavesWhatATimersCallMakes) {
  EXPECT_EQ(Match({InLibc("timer_create"), Calling("net::Tick()", "timer_create"), kTestBody}),
            std::nullopt);
}

TEST(FrameworkRulesTest, LeavesTheStreamItself) {
  EXPECT_EQ(Match({InLibc("fopen"), Calling("net::Log()", "fopen"), kTestBody}), std::nullopt);
}

TEST(FrameworkRulesTest, MatchesTheRuntimesStartUp) {
  EXPECT_EQ(Match({InLibstdcxx(), InLoader("call_init"), InLoader("_dl_init"), InLoader()}),
            "runtime.start-up");
}

TEST(FrameworkRulesTest, LeavesAStartUpStackThatWasCutOff) {
  EXPECT_EQ(Match({InLibstdcxx(), InLoader()}, UnwindEnd::kDepthLimit), std::nullopt);
  EXPECT_EQ(Match({InLibstdcxx(), InLoader()}, UnwindEnd::kUnreadableStack), std::nullopt);
}

const char* const kTcmalloc = "/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4.5.10";

TEST(FrameworkRulesTest, MatchesTheStartUpOfAnAllocatorsLibrary) {
  EXPECT_EQ(Match({InModule(kTcmalloc, "MallocExtension::Register(MallocExtension*)"),
                   InModule(kTcmalloc, "_GLOBAL__sub_I_tcmalloc"), InLoader("call_init"),
                   InLoader("_dl_init"), InLoader()}),
            "allocator.start-up");
}

TEST(FrameworkRulesTest, MatchesTheStartUpOfAnAllocatorThatIsLinkedIn) {
  const Frame register_it = In("MallocExtension::Register(MallocExtension*)");
  const Frame guard = In("TCMallocGuard::TCMallocGuard()");
  EXPECT_EQ(Match({register_it, guard, In("_GLOBAL__sub_I_tcmalloc.cc"),
                   InLibc("__libc_start_main"), In("_start")}),
            "allocator.start-up");
  EXPECT_EQ(Match({register_it, guard, InLibc("__libc_start_main")}), "allocator.start-up");
  EXPECT_EQ(Match({register_it, guard, In("_GLOBAL__sub_I_pool"), kTestBody}), std::nullopt);
  EXPECT_EQ(Match({register_it, In("net::Pool::Pool()"), InLibc("__libc_start_main")}),
            std::nullopt);
}

TEST(FrameworkRulesTest, MatchesTheStartUpOfALanguagesRuntime) {
  EXPECT_EQ(Match({InLibc("calloc"), InModule("/usr/lib/libobjc.so.4.0.0", "__objc_exec_class"),
                   InLoader("call_init"), InLoader()}),
            "runtime.start-up");
}

TEST(FrameworkRulesTest, LeavesWhatAnAllocatorsLibraryMakesForOthers) {
  EXPECT_EQ(Match({InModule(kTcmalloc, "MallocExtension::Register(MallocExtension*)"),
                   In("_GLOBAL__sub_I_pool"), InLoader("call_init"), InLoader()}),
            std::nullopt);
  EXPECT_EQ(Match({InModule(kTcmalloc, "MallocExtension::Register(MallocExtension*)"),
                   InModule("/src/libpool.so", "_GLOBAL__sub_I_pool"), InLoader("call_init"),
                   InLoader()}),
            std::nullopt);
  EXPECT_EQ(Match({InModule(kTcmalloc, "MallocExtension::instance()"), kTestBody}), std::nullopt);
}

TEST(FrameworkRulesTest, LeavesTheStartUpOfAUsersLibrary) {
  EXPECT_EQ(Match({InModule("/src/libpool.so", "_GLOBAL__sub_I_pool"), InLoader("call_init"),
                   InLoader()}),
            std::nullopt);
}

TEST(FrameworkRulesTest, LeavesAUsersStaticInitialiser) {
  EXPECT_EQ(Match({InLibstdcxx(), In("_GLOBAL__sub_I_pool"), InLoader("call_init"), InLoader()}),
            std::nullopt);
}

TEST(FrameworkRulesTest, LeavesAThreadWhoseStartIsAFunctionOfTheCLibrary) {
  EXPECT_EQ(Match({InLibc("strdup"), InLibc("start_thread"), InLibc("clone3")}), std::nullopt);
}

TEST(FrameworkRuleListTest, GivesEachEntryANameAndAReason) {
  for (const FrameworkRule& rule : FrameworkRules()) {
    EXPECT_FALSE(rule.name.empty()) << rule.function;
    EXPECT_FALSE(rule.why.empty()) << rule.function;
    EXPECT_FALSE(Describe(rule.match).empty()) << rule.function;
  }
}

TEST(FrameworkRuleListTest, HasNoFunctionTwice) {
  std::set<std::string_view> functions;
  for (const FrameworkRule& rule : FrameworkRules()) {
    EXPECT_TRUE(functions.insert(rule.function).second) << rule.function;
  }
}

TEST(FrameworkRuleListTest, NamesFunctionsAsTheyAreCompared) {
  for (const FrameworkRule& rule : FrameworkRules()) {
    EXPECT_EQ(QualifiedNameOf(std::string(rule.function) + "(int)"),
              rule.function.empty() ? "" : rule.function);
  }
}

TEST(FrameworkRuleListTest, HasNoTemplateButGoogleTestsOwnThreadLocals) {
  for (const FrameworkRule& rule : FrameworkRules()) {
    if (rule.function.starts_with("testing::internal::ThreadLocal<")) continue;
    EXPECT_EQ(rule.function.find('<'), std::string_view::npos) << rule.function;
  }
}

}  // namespace
}  // namespace leakgate
