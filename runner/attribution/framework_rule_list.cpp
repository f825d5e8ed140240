// The list of rules. Each entry was observed to keep memory, or follows from the source, in
// GoogleTest 1.12, Catch2 2.13 and 3.7, doctest 2.4, Boost.Test 1.81, glibc 2.36 and libc++ 14, and
// on Windows in GoogleTest 1.12, winpthreads 10, msvcrt and the documents of Microsoft's runtime. A
// change of this list raises kFrameworkRulesVersion. The test of a new entry needs a second test,
// of a user's leak of the same shape.
#include "runner/attribution/framework_rules.h"

namespace leakgate {
namespace {

using enum FrameworkMatch;

constexpr std::string_view kResults = "GoogleTest keeps each test's results until it has reported";
constexpr std::string_view kProperties = "GoogleTest keeps recorded properties for its report";
constexpr std::string_view kTraces = "GoogleTest keeps each thread's stack of SCOPED_TRACEs";
constexpr std::string_view kReporters = "GoogleTest keeps a reporter for each thread that asserts";
constexpr std::string_view kDeathTests = "GoogleTest keeps the last death test's message";
constexpr std::string_view kSingletons = "GoogleTest makes it once and keeps it";
constexpr std::string_view kMocks = "gmock keeps a registry of the mock objects in use";
constexpr std::string_view kReactions = "gmock keeps how nice or strict each mock object is";
constexpr std::string_view kSequences = "gmock keeps each thread's current InSequence";
constexpr std::string_view kOtherFramework =
    "the framework keeps sections, messages and results until it has reported";
constexpr std::string_view kLocale = "the C library keeps the locales that were set";
constexpr std::string_view kTimeZone = "the C library keeps the time zone";
constexpr std::string_view kEnvironment = "the C library keeps the environment";
constexpr std::string_view kExitHandlers = "the C library keeps the handlers until they run";
constexpr std::string_view kLoader = "the dynamic loader keeps what it knows of libraries";
constexpr std::string_view kThreads =
    "the C library keeps a thread's stack and thread-locals for "
    "the thread's life and for the next thread";
constexpr std::string_view kMessages = "the C library keeps a message buffer for each thread";
constexpr std::string_view kMessageCatalogues = "the C library keeps where messages are looked up";
constexpr std::string_view kStdio =
    "the C library keeps a buffer for each stream in use; the "
    "stream itself is not its own";
constexpr std::string_view kExceptions =
    "libc++ keeps what each thread has thrown for the thread's life";
constexpr std::string_view kTestMutexes = "GoogleTest keeps what its static mutexes consist of";
constexpr std::string_view kThreadValues =
    "GoogleTest keeps which threads have values of its thread-locals";
constexpr std::string_view kMutexes =
    "winpthreads makes what a mutex, condition or lock consists of when that is first used, and "
    "never "
    "frees it where C++ has no call for that";
constexpr std::string_view kThreadBuffers =
    "the C library keeps the text or the time that a function has returned, for each thread";
constexpr std::string_view kStartUp = "the C and C++ runtime prepare themselves before main";
constexpr std::string_view kAllocatorStartUp =
    "the allocator's library prepares itself before main";
constexpr std::string_view kLibraryRuntimeStartUp =
    "the language's or the threads' runtime prepares itself before main";

constexpr FrameworkRule kRules[] = {
    {"gtest.results", kGoogleTestFunction, "testing::TestResult::AddTestPartResult", kResults},
    {"gtest.results", kGoogleTestFunction,
     "testing::internal::DefaultGlobalTestPartResultReporter::ReportTestPartResult", kResults},
    {"gtest.properties", kGoogleTestFunction, "testing::TestResult::RecordProperty", kProperties},
    {"gtest.properties", kGoogleTestFunction, "testing::internal::UnitTestImpl::RecordProperty",
     kProperties},
    {"gtest.traces", kGoogleTestFunction, "testing::UnitTest::PushGTestTrace", kTraces},
    {"gtest.traces", kGoogleTestFunction, "testing::internal::UnitTestImpl::gtest_trace_stack",
     kTraces},
    {"gtest.traces", kGoogleTestFunction, "testing::UnitTest::AddTestPartResult", kTraces},
    {"gtest.reporters", kGoogleTestFunction,
     "testing::internal::UnitTestImpl::GetTestPartResultReporterForCurrentThread", kReporters},
    {"gtest.death-tests", kGoogleTestFunction,
     "testing::internal::DeathTest::set_last_death_test_message", kDeathTests},
    {"gtest.death-tests", kGoogleTestFunction, "testing::internal::DeathTestImpl::Passed",
     kDeathTests},
    {"gtest.singletons", kGoogleTestFunction,
     "testing::internal::UnitTestImpl::os_stack_trace_getter", kSingletons},
    {"gmock.singletons", kGoogleTestFunction, "testing::internal::GetFailureReporter", kSingletons},
    {"gmock.mocks", kGoogleTestFunction, "testing::Mock::Register", kMocks,
     "(void const*, testing::internal::"},
    {"gmock.mocks", kGoogleTestFunction, "testing::Mock::AllowLeak", kMocks, "(void const*)"},
    {"gmock.mocks", kGoogleTestFunction, "testing::Mock::RegisterUseByOnCallOrExpectCall", kMocks,
     "(void const*, char const*, int)"},
    {"gmock.reactions", kGoogleTestFunction,
     "testing::(anonymous namespace)::SetReactionOnUninterestingCalls", kReactions},
    {"gmock.reactions", kGoogleTestFunction,
     "testing::(anonymous namespace)::UninterestingCallReactionMap", kReactions},
    {"gmock.reactions", kGoogleTestFunction, "testing::Mock::AllowUninterestingCalls", kReactions},
    {"gmock.reactions", kGoogleTestFunction, "testing::Mock::WarnUninterestingCalls", kReactions},
    {"gmock.reactions", kGoogleTestFunction, "testing::Mock::FailUninterestingCalls", kReactions},

    // GoogleTest's own thread-locals: these instantiations and no others.
    {"gtest.traces", kGoogleTestFunction,
     "testing::internal::ThreadLocal<std::vector<testing::internal::TraceInfo, "
     "std::allocator<testing::internal::TraceInfo> > >::GetOrCreateValue",
     kTraces},
    {"gtest.traces", kGoogleTestFunction,
     "testing::internal::ThreadLocal<std::vector<testing::internal::TraceInfo, "
     "std::allocator<testing::internal::TraceInfo> > >::DefaultValueHolderFactory::"
     "MakeNewHolder",
     kTraces},
    {"gtest.reporters", kGoogleTestFunction,
     "testing::internal::ThreadLocal<testing::TestPartResultReporterInterface*>::"
     "GetOrCreateValue",
     kReporters},
    {"gtest.reporters", kGoogleTestFunction,
     "testing::internal::ThreadLocal<testing::TestPartResultReporterInterface*>::"
     "InstanceValueHolderFactory::MakeNewHolder",
     kReporters},
    {"gmock.sequences", kGoogleTestFunction,
     "testing::internal::ThreadLocal<testing::Sequence*>::GetOrCreateValue", kSequences},
    {"gmock.sequences", kGoogleTestFunction,
     "testing::internal::ThreadLocal<testing::Sequence*>::DefaultValueHolderFactory::"
     "MakeNewHolder",
     kSequences},
    // The compiler has inlined the functions above into these. They also make the sequence itself,
    // which is freed with the InSequence object: if that is leaked, the object is the user's.
    {"gmock.sequences", kGoogleTestFunction, "testing::InSequence::InSequence", kSequences},

    // GoogleTest on Windows has mutexes and thread-locals of its own.
    {"gtest.mutexes", kGoogleTestFunction, "testing::internal::Mutex::ThreadSafeLazyInit",
     kTestMutexes},
    {"gtest.thread-locals", kGoogleTestFunction,
     "testing::internal::ThreadLocalRegistryImpl::GetValueOnCurrentThread", kThreadValues},
    {"gtest.thread-locals", kGoogleTestFunction,
     "testing::internal::ThreadLocalRegistryImpl::GetThreadLocalsMapLocked", kThreadValues},
    {"gtest.thread-locals", kGoogleTestFunction,
     "testing::internal::ThreadLocalRegistryImpl::StartWatcherThreadFor", kThreadValues},

    {"catch2.own", kNamespace, "Catch::", kOtherFramework},
    {"doctest.own", kNamespace, "doctest::", kOtherFramework},
    {"catch2.own", kLibrary, "libCatch2", kOtherFramework},
    {"boost-test.own", kLibrary, "libboost_unit_test_framework", kOtherFramework},
    {"boost-test.own", kNamespace, "boost::unit_test::", kOtherFramework},
    {"boost-test.own", kNamespace, "boost::test_tools::", kOtherFramework},

    {"libc.locale", kCLibraryCall, "setlocale", kLocale},
    {"libc.time-zone", kCLibraryCall, "tzset", kTimeZone},
    {"libc.time-zone", kCLibraryCall, "localtime", kTimeZone},
    {"libc.time-zone", kCLibraryCall, "localtime_r", kTimeZone},
    {"libc.time-zone", kCLibraryCall, "mktime", kTimeZone},
    {"libc.time-zone", kCLibraryCall, "timelocal", kTimeZone},
    {"libc.time-zone", kCLibraryCall, "ctime", kTimeZone},
    {"libc.time-zone", kCLibraryCall, "ctime_r", kTimeZone},
    {"libc.time-zone", kCLibraryCall, "strftime", kTimeZone},
    {"libc.time-zone", kCLibraryCall, "strftime_l", kTimeZone},
    {"libc.time-zone", kCLibraryCall, "wcsftime", kTimeZone},
    {"libc.time-zone", kCLibraryCall, "wcsftime_l", kTimeZone},
    {"libc.environment", kCLibraryCall, "setenv", kEnvironment},
    {"libc.environment", kCLibraryCall, "putenv", kEnvironment},
    {"libc.environment", kCLibraryCall, "unsetenv", kEnvironment},
    {"libc.environment", kCLibraryCall, "clearenv", kEnvironment},
    {"libc.exit-handlers", kCLibraryCall, "atexit", kExitHandlers},
    {"libc.exit-handlers", kCLibraryCall, "on_exit", kExitHandlers},
    {"libc.exit-handlers", kCLibraryCall, "at_quick_exit", kExitHandlers},
    {"libc.exit-handlers", kCLibraryCall, "__cxa_atexit", kExitHandlers},
    {"libc.exit-handlers", kCLibraryCall, "__cxa_at_quick_exit", kExitHandlers},
    {"libc.exit-handlers", kCLibraryCall, "__cxa_thread_atexit_impl", kExitHandlers},
    {"libc.loader", kCLibraryCall, "dlopen", kLoader},
    {"libc.loader", kCLibraryCall, "dlsym", kLoader},
    {"libc.loader", kCLibraryCall, "dlclose", kLoader},
    {"libc.loader", kCLibraryCall, "dlerror", kLoader},
    {"libc.threads", kCLibraryCall, "pthread_create", kThreads},
    {"libc.threads", kCLibraryCall, "__tls_get_addr", kThreads},
    // The same in threads that the C library starts itself, for timers, message queues and helpers.
    {"libc.threads", kCLibraryInternal, "_dl_allocate_tls", kThreads},
    {"libc.threads", kCLibraryInternal, "_dl_allocate_tls_storage", kThreads},
    {"libc.threads", kCLibraryInternal, "allocate_dtv", kThreads},
    {"libc.messages", kCLibraryCall, "strerror", kMessages},
    {"libc.messages", kCLibraryCall, "strsignal", kMessages},
    {"libc.messages", kCLibraryCall, "textdomain", kMessageCatalogues},
    {"libc.messages", kCLibraryCall, "bindtextdomain", kMessageCatalogues},
    {"libc.stdio-buffer", kCLibraryInternal, "_IO_file_doallocate", kStdio},
    // On Windows.
    {"libc.mutexes", kWindowsCall, "pthread_mutex_lock", kMutexes},
    {"libc.mutexes", kWindowsCall, "pthread_mutex_trylock", kMutexes},
    {"libc.mutexes", kWindowsCall, "pthread_mutex_timedlock", kMutexes},
    {"libc.mutexes", kWindowsCall, "pthread_cond_wait", kMutexes},
    {"libc.mutexes", kWindowsCall, "pthread_cond_timedwait", kMutexes},
    {"libc.mutexes", kWindowsCall, "pthread_cond_timedwait_impl", kMutexes},
    {"libc.mutexes", kWindowsCall, "pthread_cond_signal", kMutexes},
    {"libc.mutexes", kWindowsCall, "pthread_cond_broadcast", kMutexes},
    {"libc.mutexes", kWindowsCall, "pthread_rwlock_rdlock", kMutexes},
    {"libc.mutexes", kWindowsCall, "pthread_rwlock_wrlock", kMutexes},
    {"libc.mutexes", kWindowsCall, "pthread_rwlock_tryrdlock", kMutexes},
    {"libc.mutexes", kWindowsCall, "pthread_rwlock_trywrlock", kMutexes},
    {"libc.mutexes", kWindowsCall, "pthread_rwlock_timedrdlock", kMutexes},
    {"libc.mutexes", kWindowsCall, "pthread_rwlock_timedwrlock", kMutexes},
    {"libc.threads", kWindowsCall, "pthread_once", kThreads},
    {"libc.threads", kWindowsCall, "pthread_key_create", kThreads},
    {"libc.threads", kWindowsCall, "pthread_setspecific", kThreads},
    {"libc.threads", kWindowsCall, "pthread_getspecific", kThreads},
    {"libc.threads", kWindowsCall, "pthread_self", kThreads},
    {"libc.threads", kWindowsCall, "pthread_join", kThreads},
    {"libc.threads", kWindowsCall, "pthread_detach", kThreads},
    {"libc.threads", kWindowsCall, "__emutls_get_address", kThreads},
    {"libc.threads", kWindowsCall, "CreateThread", kThreads},
    {"libc.threads", kWindowsCall, "_beginthread", kThreads},
    {"libc.threads", kWindowsCall, "_beginthreadex", kThreads},
    {"libc.exit-handlers", kCppRuntimeFunction, "__cxa_thread_atexit", kExitHandlers},
    {"libc.exit-handlers", kWindowsCall, "_onexit", kExitHandlers},
    {"libc.exit-handlers", kWindowsCall, "__dllonexit", kExitHandlers},
    {"libc.exit-handlers", kWindowsCall, "_crt_atexit", kExitHandlers},
    {"libc.exit-handlers", kWindowsCall, "_crt_at_quick_exit", kExitHandlers},
    {"libc.exit-handlers", kWindowsCall, "_register_onexit_function", kExitHandlers},
    {"libc.exit-handlers", kWindowsCall, "_register_thread_local_exe_atexit_callback",
     kExitHandlers},
    {"libc.locale", kWindowsCall, "_wsetlocale", kLocale},
    {"libc.locale", kWindowsCall, "_configthreadlocale", kLocale},
    {"libc.environment", kWindowsCall, "_putenv", kEnvironment},
    {"libc.environment", kWindowsCall, "_wputenv", kEnvironment},
    {"libc.environment", kWindowsCall, "_putenv_s", kEnvironment},
    {"libc.environment", kWindowsCall, "_wputenv_s", kEnvironment},
    {"libc.environment", kWindowsCall, "getenv", kEnvironment},
    {"libc.environment", kWindowsCall, "_wgetenv", kEnvironment},
    {"libc.time-zone", kWindowsCall, "_tzset", kTimeZone},
    {"libc.time-zone", kWindowsCall, "_mktime64", kTimeZone},
    {"libc.time-zone", kWindowsCall, "_mktime32", kTimeZone},
    {"libc.thread-buffers", kWindowsCall, "_localtime64", kThreadBuffers},
    {"libc.thread-buffers", kWindowsCall, "_localtime32", kThreadBuffers},
    {"libc.thread-buffers", kWindowsCall, "gmtime", kThreadBuffers},
    {"libc.thread-buffers", kWindowsCall, "_gmtime64", kThreadBuffers},
    {"libc.thread-buffers", kWindowsCall, "_gmtime32", kThreadBuffers},
    {"libc.thread-buffers", kWindowsCall, "asctime", kThreadBuffers},
    {"libc.thread-buffers", kWindowsCall, "_wasctime", kThreadBuffers},
    {"libc.thread-buffers", kWindowsCall, "_ctime64", kThreadBuffers},
    {"libc.thread-buffers", kWindowsCall, "_ctime32", kThreadBuffers},
    {"libc.thread-buffers", kWindowsCall, "_wctime64", kThreadBuffers},
    {"libc.thread-buffers", kWindowsCall, "_wctime32", kThreadBuffers},
    {"libc.thread-buffers", kWindowsCall, "_strerror", kThreadBuffers},
    {"libc.thread-buffers", kWindowsCall, "_wcserror", kThreadBuffers},
    {"libc.thread-buffers", kWindowsCall, "__wcserror", kThreadBuffers},
    {"libc.loader", kWindowsCall, "LoadLibraryA", kLoader},
    {"libc.loader", kWindowsCall, "LoadLibraryW", kLoader},
    {"libc.loader", kWindowsCall, "LoadLibraryExA", kLoader},
    {"libc.loader", kWindowsCall, "LoadLibraryExW", kLoader},
    {"libc.loader", kWindowsCall, "FreeLibrary", kLoader},
    {"libc.loader", kWindowsCall, "GetProcAddress", kLoader},
    {"libc.stdio-buffer", kWindowsCall, "fputc", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "fputs", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "fwrite", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "putc", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "putchar", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "puts", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "fputwc", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "fputws", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "putwc", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "fprintf", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "fwprintf", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "printf", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "wprintf", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "vfprintf", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "vprintf", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "__stdio_common_vfprintf", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "__stdio_common_vfwprintf", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "__mingw_fprintf", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "__mingw_vfprintf", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "__mingw_printf", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "__mingw_vprintf", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "_flsbuf", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "fgetc", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "fgets", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "fread", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "getc", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "getchar", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "fgetwc", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "fgetws", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "ungetc", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "fscanf", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "__stdio_common_vfscanf", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "_filbuf", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "fseek", kStdio},
    {"libc.stdio-buffer", kWindowsCall, "_fseeki64", kStdio},

    {"runtime.exceptions", kCppRuntimeFunction, "__cxa_get_globals", kExceptions},
    {"runtime.start-up", kRuntimeStartUp, "", kStartUp},
    // In a library that a program of Windows loads, which has libstdc++ linked in. Nothing frees
    // it.
    {"runtime.start-up", kCppRuntimeFunction, "_GLOBAL__sub_I__ZN9__gnu_cxx9__freeresEv", kStartUp},
    {"runtime.start-up", kLibraryStartUp, "libobjc", kLibraryRuntimeStartUp},
    {"runtime.start-up", kLibraryStartUp, "libgfortran", kLibraryRuntimeStartUp},
    {"runtime.start-up", kLibraryStartUp, "libgomp", kLibraryRuntimeStartUp},
    {"runtime.start-up", kLibraryStartUp, "libomp", kLibraryRuntimeStartUp},
    {"allocator.start-up", kLibraryStartUp, "libtcmalloc", kAllocatorStartUp},
    {"allocator.start-up", kLibraryStartUp, "libtcmalloc_minimal", kAllocatorStartUp},
    {"allocator.start-up", kLibraryStartUp, "libtcmalloc_and_profiler", kAllocatorStartUp},
    {"allocator.start-up", kLibraryStartUp, "libtcmalloc_debug", kAllocatorStartUp},
    {"allocator.start-up", kLibraryStartUp, "libtcmalloc_minimal_debug", kAllocatorStartUp},
    {"allocator.start-up", kLibraryStartUp, "libjemalloc", kAllocatorStartUp},
    {"allocator.start-up", kLibraryStartUp, "libmimalloc", kAllocatorStartUp},
    {"allocator.start-up", kInitialiser, "TCMallocGuard::TCMallocGuard", kAllocatorStartUp},
    {"allocator.start-up", kInitialiser, "MallocExtension::Register", kAllocatorStartUp},
};

}  // namespace

std::span<const FrameworkRule> FrameworkRules() { return kRules; }

std::string_view Describe(FrameworkMatch match) {
  switch (match) {
    case kGoogleTestFunction:
      return "allocated by this function of GoogleTest";
    case kNamespace:
      return "allocated by a function in this namespace that no type of yours instantiates";
    case kLibrary:
      return "allocated by a function in this library";
    case kCLibraryCall:
      return "allocated by the C library when the program calls this function";
    case kWindowsCall:
      return "allocated by the runtime when a program of Windows calls this function";
    case kCLibraryInternal:
      return "allocated by this function within the C library";
    case kCppRuntimeFunction:
      return "allocated by this function within the C++ runtime";
    case kRuntimeStartUp:
      return "allocated by the runtime with no other code on the stack";
    case kLibraryStartUp:
      return "allocated as this library is loaded with the program, with no code on the stack but "
             "its own and the runtime's";
    case kInitialiser:
      return "allocated by this static initialiser, and what it calls";
  }
  return "";
}

}  // namespace leakgate
