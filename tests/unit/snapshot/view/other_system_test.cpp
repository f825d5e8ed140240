// Files that leakgate has written on each system can be read on this one. A program of one file,
// keeps.c, wrote them: 50 blocks of 333 B, one of which is freed; the snapshots are bundled with
// their symbols, of which the recordings have none. tests/windows/profiler/profiler.py reads the
// same files on Windows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/recording/view/recording_view.h"
#include "runner/snapshot/file/bundle.h"
#include "runner/snapshot/view/snapshot_groups.h"
#include "runner/snapshot/view/snapshot_view.h"

namespace leakgate {
namespace {

using testing::Contains;
using testing::EndsWith;

class OtherSystemTest : public testing::TestWithParam<std::string> {
 protected:
  static std::filesystem::path File(const std::string& ending) {
    const std::string folder = LEAKGATE_SOURCE_DIR "/tests/unit/snapshot/files/";
    return folder + GetParam() + ending;
  }
};

TEST_P(OtherSystemTest, ShowsTheNamesOfABundle) {
  SnapshotView view({}, Symbolizer(nullptr, {}));
  const Expected<void> read = view.Read(PathInBundle(File(".zip"), GetParam() + ".snapshot"));
  ASSERT_TRUE(read) << read.error().message;

  std::vector<std::pair<std::string, Amount>> sites;
  for (const SnapshotGroup& group : GroupsOf(view, GroupBy::kSite)) {
    sites.emplace_back(group.name, group.sums);
  }
  EXPECT_THAT(sites, Contains(std::pair<std::string, Amount>{"keep", {49 * 333, 49}}));
  EXPECT_THAT(view.contents().facts.image,
              EndsWith(GetParam() == "linux" ? "/keeps" : "/keeps.exe"));
}

TEST_P(OtherSystemTest, CountsTheEventsOfARecording) {
  RecordingView view({}, Symbolizer(nullptr, {}));
  const Expected<void> read = view.Read(RecordingFile(File(".recording")), "a.recording");
  ASSERT_TRUE(read) << read.error().message;

  std::int64_t kept = 0;
  for (const RecordedCounts& counts : view.tally().by_stack()) {
    if (counts.total.bytes == 50 * 333)
      kept += static_cast<std::int64_t>(counts.Outstanding().blocks);
  }
  EXPECT_EQ(kept, 49);
}

INSTANTIATE_TEST_SUITE_P(Systems, OtherSystemTest, testing::Values("linux", "windows"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace leakgate
