#include "runner/heap_tracing/nt/image_sessions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>

#include "runner/base/nt/win32.h"
#include "tests/windows/heap_tracing/registry_tree.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;
using test::ReadTree;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Foreign = LockedJournal::Foreign;

constexpr wchar_t kPrefix[] = L"leakgate-test-";
constexpr char kAbsent[] = "leakgate-test-absent.exe";
constexpr char kEmpty[] = "leakgate-test-empty.exe";
constexpr char kOther[] = "leakgate-test-other.exe";
constexpr char kText[] = "leakgate-test-text.exe";
constexpr wchar_t kFlags[] = L"TracingFlags";

// One image for each that may stand in the registry before: nothing, a key without values, another
// flag, and a text. And an application of a package, which has two keys of its own.
std::vector<FlaggedImage> AllImages() {
  return {{kAbsent}, {kEmpty}, {kOther}, {kText}, {"leakgate-test-host.exe", "Package_1.0!App"}};
}

std::wstring Key(const FlaggedImage& image) { return WideOf(image.image); }

class ImageSessionsTest : public testing::Test {
 protected:
  ImageSessionsTest() {
    Clear();
    test::MakeKey(Key({kEmpty}));
    test::SetNumber(Key({kOther}), kFlags, 2);
    test::SetNumber(Key({kOther}), L"Debugger", 9);
    test::SetText(Key({kText}), kFlags, L"0x2");
    before_ = ReadTree(kPrefix);
  }
  ~ImageSessionsTest() override {
    Clear();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  static void Clear() {
    for (const FlaggedImage& image : AllImages()) test::RemoveTree(Key(image));
  }

  LockedJournal Open() const {
    Expected<LockedJournal> journal = LockedJournal::OpenIn(folder_);
    if (!journal) throw std::runtime_error(journal.error().message);
    return *std::move(journal);
  }
  Expected<void> Start(const std::string& name, const std::vector<FlaggedImage>& images) const {
    LockedJournal journal = Open();
    return StartImageSession(journal, name, images);
  }
  Expected<bool> Stop(const std::string& name, Foreign foreign = Foreign::kKept) const {
    LockedJournal journal = Open();
    return StopImageSession(journal, name, foreign);
  }
  std::string Now(const FlaggedImage& image) const {
    const Expected<RegistryFlag> flag = ReadFlag(image);
    return flag ? TextOf(flag->value) : flag.error().message;
  }

  const fs::path folder_ =
      fs::temp_directory_path() / fmt::format("leakgate-sessions-{}", GetCurrentProcessId());
  std::map<std::wstring, std::map<std::wstring, std::string>> before_;
};

TEST_F(ImageSessionsTest, SetTheHeapsBitBesideOthersAndPutBackWhatWasThere) {
  ASSERT_TRUE(Start("web", AllImages()));

  std::vector<std::string> now;
  for (const FlaggedImage& image : AllImages()) now.push_back(Now(image));
  EXPECT_THAT(now, ElementsAre("0x1", "0x1", "0x3", "0x1", "0x1"));
  EXPECT_TRUE(Stop("web").value());
  EXPECT_EQ(ReadTree(kPrefix), before_);
  EXPECT_FALSE(fs::exists(folder_ / "traced-images.json"));
}

TEST_F(ImageSessionsTest, TheLastOfTwoPutsBackWhateverTheirOrder) {
  for (const bool is_first_stopped_first : {true, false}) {
    ASSERT_TRUE(Start("one", {{kAbsent}, {kOther}}));
    ASSERT_TRUE(Start("two", {{"LEAKGATE-TEST-ABSENT.EXE"}}));

    EXPECT_TRUE(Stop(is_first_stopped_first ? "one" : "two").value());
    EXPECT_EQ(Now({kAbsent}), "0x1");
    EXPECT_TRUE(Stop(is_first_stopped_first ? "two" : "one").value());
    EXPECT_EQ(ReadTree(kPrefix), before_);
  }
}

TEST_F(ImageSessionsTest, ANameIsTakenOnceAndAnUnknownOneIsBadInput) {
  ASSERT_TRUE(Start("web", {{kAbsent}, {kAbsent}}));

  EXPECT_EQ(Start("web", {{kOther}}).error().exit_code, ExitCode::kUsage);
  EXPECT_EQ(Stop("wab").error().exit_code, ExitCode::kUsage);
  EXPECT_EQ(Now({kOther}), "0x2");
  EXPECT_TRUE(Stop("web").value());
  EXPECT_EQ(ReadTree(kPrefix), before_);
}

TEST_F(ImageSessionsTest, KeepWhatSomebodyElseHasChangedUntilTheyAreForced) {
  ASSERT_TRUE(Start("web", {{kAbsent}, {kOther}}));
  test::SetNumber(Key({kOther}), kFlags, 7);

  LockedJournal journal = Open();
  EXPECT_FALSE(StopImageSession(journal, "web", Foreign::kKept).value());
  EXPECT_THAT(journal.problems(), ElementsAre(HasSubstr("changed TracingFlags to 0x7")));
  EXPECT_EQ(Now({kOther}), "0x7");
  EXPECT_EQ(Now({kAbsent}), "none");
  EXPECT_TRUE(StopImageSession(journal, "web", Foreign::kOverwritten).value());
  EXPECT_EQ(ReadTree(kPrefix), before_);
}

TEST_F(ImageSessionsTest, JoinNoFlagThatSomebodyElseHasTakenAway) {
  ASSERT_TRUE(Start("web", {{kOther}}));
  test::SetNumber(Key({kOther}), kFlags, 2);

  EXPECT_THAT(Start("two", {{kOther}}).error().message, HasSubstr("are 0x2 now"));
  EXPECT_TRUE(Stop("web").value());
  EXPECT_EQ(ReadTree(kPrefix), before_);
}

TEST_F(ImageSessionsTest, LeaveKeysThatOthersHavePutSomethingInto) {
  ASSERT_TRUE(Start("web", {{kAbsent}}));
  test::SetNumber(Key({kAbsent}), L"Debugger", 1);

  EXPECT_TRUE(Stop("web").value());

  EXPECT_THAT(ReadTree(kPrefix), SizeIs(before_.size() + 1));
  EXPECT_EQ(Now({kAbsent}), "none");
}

TEST_F(ImageSessionsTest, WithoutRightsAllIsAsItWasAndTheRemedyIsToldInOneLine) {
  const test::DeniedKey denied(Key({kOther}));

  const Expected<void> started = Start("web", {{kAbsent}, {kOther}});

  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().exit_code, ExitCode::kUsage);
  EXPECT_THAT(started.error().message, HasSubstr("run this as administrator"));
  EXPECT_EQ(ReadTree(kPrefix), before_);
  EXPECT_THAT(Open().entries, IsEmpty());
}

TEST_F(ImageSessionsTest, ListAlsoWhatLeakgateDidNotSet) {
  ASSERT_TRUE(Start("web", {{kAbsent}}));

  const FlagSurvey survey = SurveyFlags(Open()).value();

  ASSERT_THAT(survey.flags, SizeIs(testing::Ge(3u)));
  EXPECT_EQ(survey.flags[0].image.image, kAbsent);
  EXPECT_EQ(survey.flags[0].entry->holders[0].session, "web");
  const auto other = std::ranges::find_if(
      survey.flags, [](const ListedFlag& flag) { return flag.image.image == kOther; });
  ASSERT_NE(other, survey.flags.end());
  EXPECT_FALSE(other->entry);
  EXPECT_GT(other->change_seconds, 1'700'000'000);
  EXPECT_TRUE(Stop("web").value());
}

TEST_F(ImageSessionsTest, ABrokenJournalIsNoReasonToChangeAnything) {
  ASSERT_TRUE(Start("web", {{kAbsent}}));
  const std::wstring place = folder_ / L"traced-images.json";
  const UniqueFd file = OwnHandle(
      CreateFileW(place.c_str(), GENERIC_WRITE, 0, nullptr, TRUNCATE_EXISTING, 0, nullptr));

  const Expected<LockedJournal> journal = LockedJournal::OpenIn(folder_);

  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, HasSubstr("does not change the registry"));
  EXPECT_EQ(Now({kAbsent}), "0x1");
}

// Starts and stops sessions until it is killed.
[[noreturn]] void ChangeForEver(const fs::path& folder) {
  for (;;) {
    Expected<LockedJournal> journal = LockedJournal::OpenIn(folder);
    if (!journal) std::exit(1);
    const bool is_done = journal->entries.empty()
                             ? StartImageSession(*journal, "killed", AllImages()).has_value()
                             : StopImageSession(*journal, "killed", Foreign::kKept).value_or(false);
    if (!is_done) std::exit(1);
  }
}

void KillAfter(const fs::path& folder, DWORD time_ms) {
  std::wstring line =
      L"\"" +
      TextThat([](wchar_t* to, DWORD units) { return GetModuleFileNameW(nullptr, to, units); }) +
      L"\" --change \"" + folder.native() + L"\"";
  STARTUPINFOW begin{};
  begin.cb = sizeof(begin);
  PROCESS_INFORMATION started{};
  ASSERT_TRUE(CreateProcessW(nullptr, line.data(), nullptr, nullptr, FALSE, 0, nullptr, nullptr,
                             &begin, &started));
  const UniqueFd process = OwnHandle(started.hProcess);
  const UniqueFd thread = OwnHandle(started.hThread);
  EXPECT_EQ(WaitForSingleObject(HandleOf(process), time_ms), WAIT_TIMEOUT);
  TerminateProcess(HandleOf(process), 1);
  WaitForSingleObject(HandleOf(process), INFINITE);
}

// With LEAKGATE_KILLS, so many; LEAKGATE_SEED tells the moments.
TEST_F(ImageSessionsTest, NoValueDiffersAfterKillsAtRandomMoments) {
  const auto number_of = [](const char* name, unsigned otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : static_cast<unsigned>(std::atoi(text));
  };
  const unsigned kills = number_of("LEAKGATE_KILLS", 15);
  std::mt19937 random(number_of("LEAKGATE_SEED", 41));
  unsigned left_changed = 0;
  unsigned left_sessions = 0;
  for (unsigned kill = 0; kill < kills; ++kill) {
    KillAfter(folder_, 100 + random() % 200);
    left_changed += ReadTree(kPrefix) != before_;
    if (kill % 3 == 0) continue;  // the next one is killed over what this one has left
    LockedJournal journal = Open();
    EXPECT_THAT(journal.problems(), IsEmpty());
    if (!journal.entries.empty()) {  // it was killed between the two
      ++left_sessions;
      EXPECT_TRUE(StopImageSession(journal, "killed", Foreign::kKept).value());
    }
    ASSERT_EQ(ReadTree(kPrefix), before_) << "after kill " << kill;
  }
  std::printf("%u kills: %u left the registry changed, %u of these with a whole session\n", kills,
              left_changed, left_sessions);
}

}  // namespace
}  // namespace leakgate

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--change") leakgate::ChangeForEver(argv[2]);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
