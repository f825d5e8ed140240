#include "runner/report/report_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "runner/base/atomic_file.h"
#include "runner/base/path_text.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(ReportRequestTest, IsAFormatAndAFile) {
  const Expected<ReportRequest> request = ParseReportRequest("json=out/leaks.json");

  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(*request, (ReportRequest{ReportFormat::kJson, "out/leaks.json"}));
}

TEST(ReportRequestTest, TakesAFileNameWithAnEqualsSign) {
  EXPECT_EQ(ParseReportRequest("json=a=b")->path, "a=b");
}

TEST(ReportRequestTest, NamesTheKnownFormatsForAnUnknownOne) {
  const Expected<ReportRequest> request = ParseReportRequest("yaml=out.yaml");

  ASSERT_FALSE(request.has_value());
  EXPECT_EQ(request.error().exit_code, ExitCode::kUsage);
  EXPECT_EQ(request.error().message,
            "report 'yaml=out.yaml': unknown format 'yaml'; known: " + KnownFormats());
}

// What each is called is seen by what is written under its name (GoldenFormatsTest).
TEST(ReportRequestTest, KnowsEachFormatByANameOfItsOwn) {
  std::set<ReportFormat> formats;
  for (const std::string& name : FormatNames()) {
    const Expected<ReportRequest> request = ParseReportRequest(name + "=a");
    ASSERT_TRUE(request) << name;
    EXPECT_TRUE(formats.insert(request->format).second) << name;
  }
  EXPECT_EQ(formats.size(), static_cast<std::size_t>(ReportFormat::kHtml) + 1);
  EXPECT_EQ(ParseReportRequest("html=a")->format, ReportFormat::kHtml);  // the last
}

TEST(ReportRequestTest, ListsTheNamesOfAllFormats) {
  EXPECT_THAT(KnownFormats(), AllOf(StartsWith("json, junit, "), HasSubstr(", html")));
}

TEST(ReportRequestTest, AsksForTheFileWhereThereIsNone) {
  for (const char* const text : {"json", "json=", "", "out.json"}) {
    const Expected<ReportRequest> request = ParseReportRequest(text);
    ASSERT_FALSE(request.has_value()) << text;
    EXPECT_EQ(request.error().exit_code, ExitCode::kUsage);
    EXPECT_EQ(request.error().message,
              "report '" + std::string(text) +
                  "' names no file; write FORMAT=FILE, for example json=leakgate.json");
  }
}

TEST(ReportRequestTest, WritesNoneToStandardOutput) {
  const Expected<ReportRequest> request = ParseReportRequest("json=-");
  ASSERT_FALSE(request.has_value());
  EXPECT_EQ(request.error().message,
            "report 'json=-': standard output is the program's and the summary's; name a file");
}

class ReportFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/leakgate-report-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = fs::path(pattern).lexically_normal();  // as messages have it
  }
  void TearDown() override { fs::remove_all(directory_); }

  static std::string Read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      names.push_back(PathText(entry.path().filename()));
    }
    return names;
  }

  fs::path directory_;
};

TEST_F(ReportFileTest, WritesANewFileAndNothingElse) {
  ASSERT_TRUE(WriteFileAtomically(directory_ / "report.json", "{}\n").has_value());

  EXPECT_EQ(Read(directory_ / "report.json"), "{}\n");
  EXPECT_THAT(Names(), testing::ElementsAre("report.json"));
}

TEST_F(ReportFileTest, ReplacesAnOldFileByANewOneAtOnce) {
  const fs::path path = directory_ / "report.json";
  std::ofstream(path) << "a much longer old report";
  std::ifstream reader_of_the_old(path);

  ASSERT_TRUE(WriteFileAtomically(path, "new").has_value());

  std::ostringstream old;
  old << reader_of_the_old.rdbuf();
  EXPECT_EQ(old.str(), "a much longer old report");
  EXPECT_EQ(Read(path), "new");
}

TEST_F(ReportFileTest, WritesAnEmptyText) {
  ASSERT_TRUE(WriteFileAtomically(directory_ / "empty", "").has_value());

  EXPECT_TRUE(fs::exists(directory_ / "empty"));
}

TEST_F(ReportFileTest, TakesTheLongestNameThatTheFileSystemTakes) {
  EXPECT_TRUE(WriteFileAtomically(directory_ / std::string(255, 'r'), "{}").has_value());
}

TEST_F(ReportFileTest, FollowsASymbolicLink) {
  std::ofstream(directory_ / "target") << "old";
  fs::create_symlink("target", directory_ / "link");

  ASSERT_TRUE(WriteFileAtomically(directory_ / "link", "new").has_value());

  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(Read(directory_ / "target"), "new");
}

// As the kernel's fs.protected_symlinks, for who opens a file there.
TEST_F(ReportFileTest, FollowsNoLinkOfAnotherUsersWhereAllMayWrite) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make another user's link";
  const fs::path shared = directory_ / "shared";
  fs::create_directory(shared);
  std::ofstream(directory_ / "target") << "old";
  fs::create_symlink("../target", shared / "link");
  ASSERT_EQ(::lchown((shared / "link").c_str(), 65534, 65534), 0);

  EXPECT_TRUE(WriteFileAtomically(shared / "link", "new").has_value());  // only its owner writes

  ASSERT_EQ(::chmod(shared.c_str(), 01777), 0);
  const Expected<void> written = WriteFileAtomically(shared / "link", "newer");
  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error().message, HasSubstr("another user's link"));
  EXPECT_EQ(Read(directory_ / "target"), "new");
}

// From the check on, whoever may rename the directory on the way changes nothing.
TEST_F(ReportFileTest, GoesToTheDirectoryThatWasThereAtFirst) {
  fs::create_directory(directory_ / "right");
  fs::create_directory(directory_ / "wrong");
  Expected<AtomicFile> file = AtomicFile::Create(directory_ / "right" / "report.json");
  ASSERT_TRUE(file);
  fs::rename(directory_ / "right", directory_ / "moved");
  fs::create_directory_symlink("wrong", directory_ / "right");
  file->out() << "{}";

  ASSERT_TRUE(file->Commit());
  EXPECT_TRUE(fs::is_empty(directory_ / "wrong"));
  EXPECT_EQ(Read(directory_ / "moved" / "report.json"), "{}");
}

TEST_F(ReportFileTest, FollowsNoLinksForEver) {
  fs::create_symlink("round", directory_ / "round");
  const Expected<void> written = WriteFileAtomically(directory_ / "round" / "report.json", "{}");

  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("Too many levels of symbolic links"));
}

TEST_F(ReportFileTest, WantsAnEntryThatIsNoDirectory) {
  fs::create_directory(directory_ / "sub");
  for (const char* const name : {"sub/", "sub/.", "sub/.."}) {
    const Expected<void> written = WriteFileAtomically(directory_ / name, "{}");
    ASSERT_FALSE(written) << name;
    EXPECT_THAT(written.error().message, HasSubstr("it is a directory")) << name;
  }
  EXPECT_TRUE(WriteFileAtomically(directory_ / "sub/../sub//./report.json", "{}"));
  EXPECT_EQ(Read(directory_ / "sub/report.json"), "{}");
}

struct stat FactsOf(const fs::path& path) {
  struct stat facts {};
  EXPECT_EQ(::stat(path.c_str(), &facts), 0);
  return facts;
}

TEST_F(ReportFileTest, KeepsTheModeOfTheReportThatItReplaces) {
  const fs::path path = directory_ / "report.json";
  for (const mode_t mode : {0600U, 0644U, 0666U, 0440U}) {
    std::ofstream(path) << "old";
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    ASSERT_TRUE(WriteFileAtomically(path, "new"));
    EXPECT_EQ(FactsOf(path).st_mode & 07777, mode);
    EXPECT_EQ(Read(path), "new");
    fs::remove(path);
  }
}

TEST_F(ReportFileTest, KeepsTheOwnerWhereRootReplacesIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const fs::path path = directory_ / "report.json";
  std::ofstream(path) << "old";
  ASSERT_EQ(::chown(path.c_str(), 65534, 65533), 0);
  ASSERT_TRUE(WriteFileAtomically(path, "new"));
  EXPECT_EQ(FactsOf(path).st_uid, 65534u);
  EXPECT_EQ(FactsOf(path).st_gid, 65533u);
}

TEST_F(ReportFileTest, KeepsASnapshotForItsOwnerWhateverItReplaces) {
  const fs::path path = directory_ / "process.snapshot";
  std::ofstream(path) << "old";
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  Expected<AtomicFile> file = AtomicFile::Create(path, AtomicFile::Content::kSnapshot);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->Commit());
  EXPECT_EQ(FactsOf(path).st_mode & 07777, mode_t{0600});
}

TEST_F(ReportFileTest, WritesIntoAFifoDirectly) {
  const fs::path path = directory_ / "fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string seen;
  std::thread reader([&] { seen = Read(path); });

  const Expected<void> written = WriteFileAtomically(path, "{}");
  reader.join();

  EXPECT_TRUE(written.has_value());
  EXPECT_EQ(seen, "{}");
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST_F(ReportFileTest, AppendsToWhatIsOpenAsADescriptor) {
  const fs::path path = directory_ / "stdout.txt";
  std::FILE* const open_file = std::fopen(path.c_str(), "w");
  ASSERT_NE(open_file, nullptr);
  std::fputs("before\n", open_file);
  std::fflush(open_file);

  const std::string name = "/dev/fd/" + std::to_string(fileno(open_file));
  const Expected<void> written = WriteFileAtomically(name, "report\n");
  std::fclose(open_file);

  EXPECT_TRUE(written.has_value());
  EXPECT_EQ(Read(path), "before\nreport\n");
}

TEST_F(ReportFileTest, AddsToAFileThatOthersWriteTo) {
  const fs::path path = directory_ / "summary.md";
  std::ofstream(path) << "before\n";

  Expected<AtomicFile> file = AtomicFile::Append(path);
  ASSERT_TRUE(file);
  file->out() << "report\n";
  ASSERT_TRUE(file->Commit());

  EXPECT_EQ(Read(path), "before\nreport\n");
}

TEST_F(ReportFileTest, SaysThatTheDirectoryDoesNotExist) {
  const fs::path path = directory_ / "missing" / "report.json";

  const Expected<void> written = WriteFileAtomically(path, "{}");

  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().exit_code, ExitCode::kInconclusive);
  EXPECT_EQ(written.error().message, "cannot write report " + PathText(path) +
                                         ": its directory does not exist; create it first");
}

TEST_F(ReportFileTest, SaysThatItIsADirectory) {
  const Expected<void> written = WriteFileAtomically(directory_, "{}");

  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().message, "cannot write report " + PathText(directory_) +
                                         ": it is a directory; name a file in it");
}

TEST_F(ReportFileTest, SaysWhyADeviceCouldNotBeWritten) {
  const Expected<void> written = WriteFileAtomically("/dev/full", "{}");

  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().message,
            "cannot write report /dev/full: No space left on device; make it writable or name "
            "another file");
}

// Restores what it changes: the limit on the size of files and its signal.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  sighandler_t handler_;
  rlimit before_ = {};
};

TEST_F(ReportFileTest, KeepsTheOldFileAndRemovesTheTemporaryWhereWritingFails) {
  const fs::path path = directory_ / "report.json";
  std::ofstream(path) << "old";

  Expected<void> written;
  {
    const FileSizeLimit limit(100);
    written = WriteFileAtomically(path, std::string(100'000, 'x'));
  }

  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error().message,
              AllOf(HasSubstr("cannot write report " + PathText(path) + ": File too large; "),
                    HasSubstr("make its directory writable with room for it, or name another")));
  EXPECT_EQ(Read(path), "old");
  EXPECT_THAT(Names(), testing::ElementsAre("report.json"));
}

}  // namespace
}  // namespace leakgate
