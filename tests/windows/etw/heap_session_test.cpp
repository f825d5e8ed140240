#include "runner/etw/nt/heap_session.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/windows/etw/fake_kernel.h"

namespace leakgate {
namespace {

using test::EventMaker;
using test::FakeKernel;
using test::FakeLibrary;
using test::NewFakeKernel;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr DWORD kTraced = 4242;

TraceCalls FakeCalls() { return LoadTraceCalls(FakeLibrary(), FakeLibrary()).value(); }

// Two blocks of 30 and 7 bytes are left of these.
std::vector<test::MadeEvent> Events(const EventMaker& make) {
  return {make.Allocate(10, 0x1000, 30), make.Stack(10, {0x401, 0x402}),
          make.Allocate(20, 0x2000, 64), make.Stack(20, {0x403}),
          make.Free(30, 0x2000),         make.Allocate(40, 0x2000, 7),
          make.Stack(40, {0x404})};
}

// A whole session, as long as all is well; then the message of what is not.
Expected<HeapTrace> Traced() {
  LEAKGATE_TRY_ASSIGN(const auto session, HeapSession::Start(FakeCalls(), HeapTrace(kTraced)));
  LEAKGATE_TRY(session->Verify());
  test::WaitUntilPlayed();
  return session->Stop();
}

std::string FailureOfTrace() {
  const Expected<HeapTrace> trace = Traced();
  return trace ? "" : trace.error().message;
}

TEST(HeapSessionTest, TellsWhatIsLeftForBothSizesOfPointers) {
  for (const std::uint8_t pointer_bytes : {std::uint8_t{8}, std::uint8_t{4}}) {
    NewFakeKernel().events = Events(EventMaker(kTraced, pointer_bytes));

    const HeapTrace trace = Traced().value();

    const std::vector<TracedBlock> blocks = trace.LiveBlocks();
    ASSERT_EQ(blocks.size(), 2u);
    EXPECT_EQ(blocks[0].size_bytes, 30u);
    EXPECT_EQ(blocks[1].size_bytes, 7u);
    EXPECT_THAT(trace.Frames(blocks[0].stack.value()), ElementsAre(0x401, 0x402));
    EXPECT_EQ(DescribeLosses(trace.losses()), "");
    EXPECT_EQ(trace.heap_events(), 4u);
  }
}

TEST(HeapSessionTest, AsksForTheProcessAndItselfAndThenForTheProcessAlone) {
  FakeKernel& fake = NewFakeKernel();
  ASSERT_TRUE(Traced());

  EXPECT_THAT(fake.calls,
              ElementsAre("start", "open", "flush", "update", "flush", "stop", "close"));
  EXPECT_THAT(fake.processes_at_start, ElementsAre(kTraced, GetCurrentProcessId()));
  EXPECT_THAT(fake.processes_at_update, ElementsAre(kTraced));
  EXPECT_THAT(fake.stack_opcodes, ElementsAre(0x21, 0x22));
  EXPECT_EQ(Utf8Of(fake.name), "leakgate-" + std::to_string(GetCurrentProcessId()) + "-4242");
  // Without raw times no stack would ever meet what it is of.
  EXPECT_EQ(fake.read_mode, PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD |
                                PROCESS_TRACE_MODE_RAW_TIMESTAMP);
}

// Its sessions cannot be changed while they run.
TEST(HeapSessionTest, AsksStartTraceTwiceWhereTheToolkitIsNotInstalled) {
  FakeKernel& fake = NewFakeKernel();
  fake.events = Events(EventMaker(kTraced));
  const TraceCalls calls = LoadTraceCalls({}, FakeLibrary()).value();
  const auto session = HeapSession::Start(calls, HeapTrace(kTraced)).value();
  EXPECT_THAT(fake.processes_at_start, ElementsAre(kTraced, GetCurrentProcessId()));
  EXPECT_THAT(fake.stack_opcodes, ElementsAre(0x21, 0x22));

  ASSERT_TRUE(session->Verify());
  test::WaitUntilPlayed();
  const HeapTrace trace = session->Stop().value();

  EXPECT_THAT(fake.processes_at_start, ElementsAre(kTraced));
  EXPECT_THAT(fake.calls, ElementsAre("start plain", "open", "flush", "stop", "close",
                                      "start plain", "open", "flush", "stop", "close"));
  EXPECT_EQ(trace.LiveBlocks().size(), 2u);
  EXPECT_EQ(DescribeLosses(trace.losses()), "");
}

TEST(HeapSessionTest, GoesOnWithWhatAnEarlierOneHasTold) {
  const EventMaker make(kTraced);
  NewFakeKernel().events = Events(make);
  HeapTrace first = Traced().value();
  ASSERT_EQ(first.LiveBlocks().size(), 2u);
  NewFakeKernel().events = {make.Free(50, 0x1000)};

  const auto session = HeapSession::Start(FakeCalls(), std::move(first)).value();
  ASSERT_TRUE(session->Verify());
  test::WaitUntilPlayed();
  const HeapTrace both = session->Stop().value();

  ASSERT_EQ(both.LiveBlocks().size(), 1u);
  EXPECT_EQ(both.LiveBlocks()[0].size_bytes, 7u);
  EXPECT_EQ(DescribeLosses(both.losses()), "");
}

TEST(HeapSessionTest, PutsEventsInOrder) {
  FakeKernel& fake = NewFakeKernel();
  fake.events = Events(EventMaker(kTraced));
  std::reverse(fake.events.begin(), fake.events.end());

  const HeapTrace trace = Traced().value();

  EXPECT_EQ(trace.LiveBlocks().size(), 2u);
  EXPECT_EQ(DescribeLosses(trace.losses()), "");
}

TEST(HeapSessionTest, CountsWhatTheSystemLost) {
  FakeKernel& fake = NewFakeKernel();
  fake.events = Events(EventMaker(kTraced));
  fake.events.push_back(EventMaker(0).Make(kLossProvider, kLostEventOpcode, 50));
  fake.lost_events = 5;
  fake.lost_buffers = 2;
  fake.lost_real_time_buffers = 1;

  EXPECT_EQ(DescribeLosses(Traced().value().losses()), "6 events lost, 3 buffers lost");
}

TEST(HeapSessionTest, CountsEventsThatAreCut) {
  FakeKernel& fake = NewFakeKernel();
  fake.events = Events(EventMaker(kTraced));
  fake.events.front().payload.resize(9);

  EXPECT_EQ(DescribeLosses(Traced().value().losses()),
            "1 event cut short, 1 stack of no known allocation");
}

TEST(HeapSessionTest, NamesEachErrorOfTheStartWithARemedy) {
  const auto failure = [](ULONG error) {
    NewFakeKernel().start_error = error;
    return FailureOfTrace();
  };
  EXPECT_THAT(failure(ERROR_ALREADY_EXISTS),
              AllOf(HasSubstr("another recording"), HasSubstr("(error 183); end it")));
  EXPECT_THAT(failure(ERROR_INVALID_FLAGS),
              AllOf(HasSubstr("flags"), HasSubstr("(error 1004); install")));
  EXPECT_THAT(failure(ERROR_OUTOFMEMORY),
              AllOf(HasSubstr("64 buffers of 1024 KiB"), HasSubstr("(error 14); ask for fewer")));
  EXPECT_THAT(failure(ERROR_ACCESS_DENIED),
              AllOf(HasSubstr("administrators"), HasSubstr("(error 5); run")));
  EXPECT_THAT(failure(ERROR_BAD_LENGTH), HasSubstr("(error 24); "));
}

TEST(HeapSessionTest, FailsAndStopsWhereNoEventArrives) {
  FakeKernel& fake = NewFakeKernel();
  fake.tells_own_events = false;
  {
    const auto session = HeapSession::Start(FakeCalls(), HeapTrace(kTraced)).value();
    const Expected<void> verified = session->Verify(300);
    ASSERT_FALSE(verified);
    EXPECT_THAT(verified.error().message, HasSubstr("told nothing within 300 ms"));
  }
  EXPECT_THAT(fake.calls, ElementsAre("start", "open", "flush", "stop", "close"));
}

TEST(HeapSessionTest, FailsWhereTheTraceCannotBeLimitedToTheProcess) {
  NewFakeKernel().update_error = ERROR_ACCESS_DENIED;
  EXPECT_THAT(FailureOfTrace(), HasSubstr("cannot limit"));
}

TEST(HeapSessionTest, FailsWhereAnotherProgramHasStoppedTheSession) {
  NewFakeKernel().stop_error = ERROR_WMI_INSTANCE_NOT_FOUND;
  EXPECT_THAT(FailureOfTrace(), HasSubstr("ended before the program did (error 4201)"));
}

TEST(HeapSessionTest, FailsWhereTheTraceEndsByItself) {
  FakeKernel& fake = NewFakeKernel();
  fake.ends_early = true;
  const auto session = HeapSession::Start(FakeCalls(), HeapTrace(kTraced)).value();
  ASSERT_TRUE(session->Verify());
  while (!session->HasEnded()) Sleep(1);

  const Expected<HeapTrace> trace = session->Stop();

  ASSERT_FALSE(trace);
  EXPECT_THAT(trace.error().message, HasSubstr("ended before the program did"));
}

// Wine's calls say that all is well, and do nothing, or fail: no verdict may come of it.
TEST(HeapSessionTest, FailsWithTheCallsOfASystemThatTracesNothing) {
  FakeKernel& fake = NewFakeKernel();
  const TraceCalls calls = LoadTraceCalls(FakeLibrary()).value();
  const auto session = HeapSession::Start(calls, HeapTrace(kTraced));
  const Expected<void> verified =
      session ? (*session)->Verify(300) : Expected<void>(Unexpected(session.error()));

  ASSERT_FALSE(verified);
  EXPECT_THAT(verified.error().message, HasSubstr("let leakgate's agent trace"));
  EXPECT_THAT(fake.calls, ElementsAre("start"));
}

TEST(TraceCallsTest, NamesTheLibraryThatIsMissingOrIsAnother) {
  const auto missing = LoadTraceCalls(L"C:\\nowhere\\KernelTraceControl.dll");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message,
              AllOf(HasSubstr("C:\\nowhere\\KernelTraceControl.dll"),
                    HasSubstr("; install the Windows Performance Toolkit")));
  EXPECT_FALSE(LoadTraceCalls(L"C:\\windows\\system32\\kernel32.dll"));
}

// Where the registry says that the Windows Kits are; what was there before is put back.
class KitsRoot {
 public:
  explicit KitsRoot(const std::wstring& folder) {
    RegSetKeyValueW(HKEY_LOCAL_MACHINE, kKey, L"KitsRoot10", REG_SZ, folder.c_str(),
                    static_cast<DWORD>((folder.size() + 1) * sizeof(wchar_t)));
  }
  ~KitsRoot() { RegDeleteKeyValueW(HKEY_LOCAL_MACHINE, kKey, L"KitsRoot10"); }
  KitsRoot(const KitsRoot&) = delete;
  KitsRoot& operator=(const KitsRoot&) = delete;

 private:
  static constexpr const wchar_t* kKey = L"SOFTWARE\\Microsoft\\Windows Kits\\Installed Roots";
};

TEST(TraceCallsTest, FindsTheToolkitByTheRegistryAndNotWhereAnybodyMayPutALibrary) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / ("leakgate-etw-" + std::to_string(GetCurrentProcessId()));
  const fs::path toolkit = folder / "Windows Performance Toolkit";
  fs::create_directories(toolkit);
  const fs::path before = fs::current_path();
  fs::current_path(toolkit);
  SetEnvironmentVariableW(L"PATH", toolkit.c_str());
  const fs::path library = toolkit / "KernelTraceControl.dll";
  fs::copy_file(FakeLibrary(), library);

  EXPECT_EQ(FindControlLibrary(), fs::path());
  {
    const KitsRoot root(folder.wstring());
    EXPECT_EQ(FindControlLibrary(), library);
  }
  {
    const KitsRoot of_another_machine(L"\\\\machine\\kits");
    EXPECT_EQ(FindControlLibrary(), fs::path());
  }
  {
    const KitsRoot relative(L"..");
    EXPECT_EQ(FindControlLibrary(), fs::path());
  }
  // Loading by the name alone looks into none of these folders.
  EXPECT_FALSE(LoadTraceCalls(FakeLibrary(), L"KernelTraceControl.dll"));

  fs::current_path(before);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace leakgate
