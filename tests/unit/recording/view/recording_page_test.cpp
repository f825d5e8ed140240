// The page of a recording: what is in it, that it adds up to what `recording show` tells, and that
// it stays within bounds.
#include "runner/recording/view/recording_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "runner/recording/view/page_lives.h"
#include "runner/recording/view/show_recording.h"
#include "runner/report/formats/html_page.h"
#include "tests/support/html_page.h"
#include "tests/unit/recording/view/sample_recording.h"

namespace leakgate {
namespace {

using nlohmann::json;
using sample::kMs;
using sample::Recording;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::SizeIs;

std::string PageOf(const Recording& recording, RecordingQuery query = {},
                   const RecordingPageLimits& limits = {}) {
  RecordingView view(std::move(query), Symbolizer(nullptr, {}));
  const Expected<void> read = view.Read(recording.Source(), "a.recording");
  EXPECT_TRUE(read) << read.error().message;
  std::ostringstream out;
  const Expected<void> written = WriteRecordingPage(view, out, {}, limits);
  EXPECT_TRUE(written) << written.error().message;
  return out.str();
}

json JsonOf(const Recording& recording, RecordingQuery query = {},
            const RecordingPageLimits& limits = {}) {
  return test::ReportInPage(PageOf(recording, std::move(query), limits));
}

std::string StringAt(const json& page, const json& index) {
  return page["strings"][index.get<std::size_t>()];
}

std::string BytesOf(const std::string& base64) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  for (std::size_t at = 0; at + 3 < base64.size(); at += 4) {
    std::uint32_t triple = 0;
    std::size_t count = 2;
    for (std::size_t i = 0; i < 4; ++i) {
      const bool is_digit = base64[at + i] != '=';
      triple =
          triple << 6 | (is_digit ? static_cast<std::uint32_t>(digits.find(base64[at + i])) : 0);
      if (i > 1 && !is_digit) --count;
    }
    ++count;
    for (std::size_t i = 0; i < count; ++i) {
      bytes.push_back(static_cast<char>(triple >> (16 - 8 * i) & 0xFF));
    }
  }
  return bytes;
}

// What the page's script makes of "lives". Births and deaths are numbers as of page_lives.h.
struct PageLife {
  std::size_t birth, death, stack, decade;
  RecordedSum sum, temporary;
};

class LifeDecoder {
 public:
  explicit LifeDecoder(std::string bytes) : bytes_(std::move(bytes)) {}

  std::vector<PageLife> All() {
    std::vector<PageLife> all;
    std::size_t birth = 0;
    std::size_t death = 0;
    std::size_t stack = 0;
    while (at_ < bytes_.size()) {
      const auto flags = static_cast<unsigned char>(bytes_[at_++]);
      if ((flags & 0x10) != 0) {
        birth += Number();
        death = 0;
      }
      if ((flags & 0x20) != 0) death += Number();
      if ((flags & 0x30) != 0) stack = 0;
      stack += Number();
      PageLife life = {birth, death, stack, flags & 0xFU, {}, {}};
      life.sum = Sum();
      if ((flags & 0x40) != 0) life.temporary = life.sum;
      if ((flags & 0x80) != 0) life.temporary = Sum();
      all.push_back(life);
    }
    return all;
  }

 private:
  std::size_t Number() {
    std::size_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.at(at_++));
      number |= std::size_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return number;
    }
  }
  RecordedSum Sum() {
    RecordedSum sum;
    sum.bytes = Number();
    sum.blocks = Number();
    return sum;
  }

  std::string bytes_;
  std::size_t at_ = 0;
};

std::vector<PageLife> LivesIn(const json& page) {
  return LifeDecoder(BytesOf(page["lives"].get<std::string>())).All();
}

json SumIn(const RecordedSum& sum) { return {{"bytes", sum.bytes}, {"blocks", sum.blocks}}; }

// The sums of the whole, as the script adds them up.
void ExpectWholeSums(const json& page) {
  const std::size_t bins = page["borders"].size() - 1;
  RecordedSum total, inside_freed, temporary, before_freed, later;
  for (const PageLife& life : LivesIn(page)) {
    const bool is_freed = life.death <= bins;
    if (life.birth == 0) {
      if (is_freed) before_freed += life.sum;
      continue;
    }
    total += life.sum;
    temporary += life.temporary;
    if (is_freed) inside_freed += life.sum;
    if (life.death == bins + 1) later += life.sum;
  }
  const json& interval = page["recording"]["interval"];
  EXPECT_EQ(SumIn(total), interval["total"]);
  EXPECT_EQ(SumIn(inside_freed), interval["inside_freed"]);
  EXPECT_EQ(SumIn(total - inside_freed), interval["inside_kept"]);
  EXPECT_EQ(SumIn(temporary), interval["temporary"]);
  EXPECT_EQ(SumIn(before_freed), interval["before_freed"]);
  EXPECT_EQ(SumIn(later), interval["inside_freed_later"]);
}

TEST(PageLivesTest, BytesAreWrittenInBase64) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("a"), "YQ==");
  EXPECT_EQ(Base64("ab"), "YWI=");
  EXPECT_EQ(Base64("abc"), "YWJj");
  EXPECT_EQ(Base64("\xFF\xFE\xFD!"), "//79IQ==");
}

TEST(PageLivesTest, NumbersOfAnySizeComeBack) {
  const RecordedSum large = {.bytes = (1ULL << 52) - 1, .blocks = 130};
  const RecordedSum part = {.bytes = 127, .blocks = 128};
  const std::vector<Life> lives = {
      {.key = {.stack = 3, .allocated_bin = LifeKey::kBefore, .freed_bin = 0}, .sum = part},
      {.key = {.stack = 7, .allocated_bin = 0, .freed_bin = 299, .decade = 11},
       .sum = large,
       .temporary = part},
      {.key = {.stack = 300, .allocated_bin = 0, .freed_bin = 299}, .sum = part, .temporary = part},
      {.key = {.stack = 2, .allocated_bin = 200, .freed_bin = LifeKey::kAfter}, .sum = part},
      {.key = {.stack = 2, .allocated_bin = 200, .freed_bin = LifeKey::kNever}, .sum = large}};

  const std::vector<PageLife> read = LifeDecoder(EncodeLives(lives, 300)).All();

  ASSERT_THAT(read, SizeIs(5));
  EXPECT_EQ(read[0].birth, 0U);
  EXPECT_EQ(read[0].death, 1U);
  EXPECT_EQ(read[1].birth, 1U);
  EXPECT_EQ(read[1].death, 300U);
  EXPECT_EQ(read[1].decade, 11U);
  EXPECT_EQ(read[1].sum, large);
  EXPECT_EQ(read[1].temporary, part);
  EXPECT_EQ(read[2].stack, 300U);
  EXPECT_EQ(read[2].temporary, part);
  EXPECT_EQ(read[3].birth, 201U);
  EXPECT_EQ(read[3].death, 301U);
  EXPECT_EQ(read[3].temporary, RecordedSum());
  EXPECT_EQ(read[4].death, 302U);
  EXPECT_EQ(read[4].sum, large);
}

TEST(RecordingPageTest, TellsWhatTheRecordingIs) {
  const json page = JsonOf(sample::SmallRecording());
  const json& recording = page["recording"];
  EXPECT_EQ(recording["image"], "/src/build/net_test");
  EXPECT_EQ(recording["pid"], 4242);
  EXPECT_EQ(recording["length_ns"], 4000 * kMs);
  EXPECT_EQ(recording["shown"], "");
  EXPECT_THAT(recording["missing"], IsEmpty());
  EXPECT_EQ(recording["lost_since_ns"], nullptr);
  EXPECT_EQ(recording["is_incomplete"], false);
  EXPECT_EQ(recording["is_cut_off"], false);
}

TEST(RecordingPageTest, AddsUpToWhatIsShownOfTheWhole) {
  ExpectWholeSums(JsonOf(sample::SmallRecording()));
  ExpectWholeSums(JsonOf(sample::EmptyRecording()));
}

TEST(RecordingPageTest, AddsUpToWhatIsShownOfAnInterval) {
  RecordingQuery query;
  query.from = *ParseRecordingTime("--from", "test:Http.KeepAlive");
  query.to = *ParseRecordingTime("--to", "mark:loaded#2");
  query.size_bytes = {.least = 60};
  const json page = JsonOf(sample::SmallRecording(), query);
  EXPECT_EQ(page["borders"].front(), 1000 * kMs);
  EXPECT_EQ(page["borders"].back(), 2500 * kMs);
  EXPECT_EQ(page["recording"]["shown"], "blocks of 60 B and more");
  EXPECT_EQ(page["recording"]["options"], json({"--size", "60.."}));
  EXPECT_GT(page["recording"]["interval"]["inside_freed_later"]["bytes"], 0);
  ExpectWholeSums(page);
}

TEST(RecordingPageTest, KnowsTheOptionsThatChooseItsBlocks) {
  RecordingQuery query;
  query.stacks.filters = {"*net_test*"};
  query.stacks.without = {"A::*", "B*"};
  query.size_bytes = {.least = 0, .most = 400};
  const json page = JsonOf(sample::SmallRecording(), query);
  EXPECT_EQ(page["recording"]["options"], json({"--filter", "*net_test*", "--without", "A::*",
                                                "--without", "B*", "--size", "0..400"}));
  ExpectWholeSums(page);
}

TEST(RecordingPageTest, HasTestsAndMarksAndBordersAtThem) {
  const json page = JsonOf(sample::SmallRecording());
  ASSERT_EQ(page["tests"]["count"], 2);
  const json& first = page["tests"]["rows"][0];
  EXPECT_EQ(StringAt(page, first[0]), "Http.KeepAlive");
  EXPECT_EQ(first[1], 1000 * kMs);
  EXPECT_EQ(first[2], 2000 * kMs);
  EXPECT_EQ(page["marks"]["count"], 3);
  EXPECT_EQ(StringAt(page, page["marks"]["rows"][2][0]), "done");
  const auto borders = page["borders"].get<std::vector<std::uint64_t>>();
  for (const std::uint64_t ms : {1000U, 1500U, 2000U, 2500U, 3000U}) {
    EXPECT_THAT(borders, Contains(ms * kMs + 1));
  }
  // The peak is a border, so that what was live then can be asked for.
  EXPECT_THAT(borders, Contains(1300 * kMs + 1));
}

TEST(RecordingPageTest, LeadsFromCallSitesToTheirStacks) {
  const json page = JsonOf(sample::SmallRecording());
  EXPECT_EQ(page["sites"]["count"], 2);
  EXPECT_EQ(StringAt(page, page["sites"]["rows"][0][0]), "net_test+0x2ff");
  const json& rows = page["live"]["rows"];
  ASSERT_THAT(rows, SizeIs(5));
  EXPECT_EQ(rows[0], json({-1, 0, 0, 0}));
  EXPECT_EQ(rows[1][3], 1);
  EXPECT_EQ(rows[4], json({-1, 0, 0, 2}));  // what is left out of the second site
  EXPECT_EQ(page["live"]["left_out"], 0);
}

TEST(RecordingPageTest, CountsWhatItLeavesOut) {
  RecordingPageLimits limits;
  limits.stacks.stacks = 1;
  const json page = JsonOf(sample::SmallRecording(), {}, limits);
  EXPECT_EQ(page["live"]["left_out"], 1);
  EXPECT_THAT(page["live"]["rows"], SizeIs(4));
  EXPECT_THAT(LivesIn(page), Contains(Field(&PageLife::stack, 3U)));  // its site is listed
  ExpectWholeSums(page);

  limits.stacks.sites = 1;
  const json less = JsonOf(sample::SmallRecording(), {}, limits);
  EXPECT_THAT(LivesIn(less), Contains(Field(&PageLife::stack, 0U)));
  ExpectWholeSums(less);
}

TEST(RecordingPageTest, SaysWhenEventsAreMissing) {
  Recording recording = sample::SmallRecording();
  recording.events.push_back({.time_ns = 3700 * kMs,
                              .address = 3600 * kMs,
                              .size_bytes = 12,
                              .thread = 1,
                              .kind = RecordedKind::kLost});
  recording.closing.lost_events = 12;
  recording.closing.missing = {"the recording was cut off"};
  const json facts = JsonOf(recording)["recording"];
  EXPECT_EQ(facts["lost_since_ns"], 3600 * kMs);
  EXPECT_EQ(facts["is_incomplete"], false);
  EXPECT_EQ(facts["is_cut_off"], true);
  EXPECT_THAT(facts["missing"].dump(), HasSubstr("12 events lost"));
  recording.closing.lost_events = 15;  // nobody knows when the other three were lost
  EXPECT_EQ(JsonOf(recording)["recording"]["is_incomplete"], true);
}

TEST(RecordingPageTest, NamesCannotEndTheScript) {
  Recording recording = sample::SmallRecording();
  recording.windows[1].name = "A.</script><b>";
  recording.marks[0] = "</script><!--";
  const std::string page = PageOf(recording);
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
  EXPECT_EQ(page.find("</script><!--"), std::string::npos);
  EXPECT_EQ(StringAt(test::ReportInPage(page), test::ReportInPage(page)["tests"]["rows"][0][0]),
            "A.</script><b>");
}

TEST(RecordingPageTest, HasRoomForSoManyNamesOnly) {
  Recording recording = sample::EmptyRecording();
  for (std::uint32_t id = 10; id < 1010; ++id) {
    recording.windows.push_back(
        sample::TestWindow(id, "Long." + std::string(1000, 'x') + std::to_string(id)));
    recording.Window(id * kMs, RecordedKind::kWindowBegins, id);
    recording.Allocate(id * kMs + 1, 0x10000 + 64 * std::uint64_t{id}, 100, sample::kSiteA, id);
    recording.Window(id * kMs + 10, RecordedKind::kWindowEnds, id);
  }
  RecordingPageLimits limits;
  limits.names_bytes = 100'000;
  const std::string page = PageOf(recording, {}, limits);
  EXPECT_THAT(page, SizeIs(Le(HtmlTemplate().size() + 500'000)));
  const json tests = test::ReportInPage(page)["tests"];
  EXPECT_EQ(tests["count"], 1000);
  EXPECT_GT(tests["rows"].size(), 80U);
  EXPECT_LT(tests["rows"].size(), 110U);
  const json whole = JsonOf(recording)["tests"];
  EXPECT_EQ(whole["rows"].size(), 1000U);
}

// As many different lives as there can be: each block has a stack, a birth and a death of its own.
TEST(RecordingPageTest, HasABoundWhateverIsRecorded) {
  Recording recording = sample::EmptyRecording();
  for (std::uint64_t i = 0; i < 40'000; ++i) {
    const std::uint32_t site = i % 2 == 0 ? sample::kSiteA : sample::kSiteB;
    recording.Allocate(i * 100'000, 0x10000 + 64 * (i % 20'000), 1 + (i * 7919) % 1'000'000, site,
                       1);
    if (i >= 5000) recording.Free(i * 100'000 + 10, 0x10000 + 64 * ((i - 5000) % 20'000));
  }
  RecordingPageLimits limits;
  limits.lives.lives = 2000;
  limits.lives_bytes = 6000;
  const json page = JsonOf(recording, {}, limits);
  EXPECT_THAT(page["lives"].get<std::string>(), SizeIs(Le(8001U)));
  EXPECT_THAT(LivesIn(page), SizeIs(Le(2000U)));
  ExpectWholeSums(page);
}

}  // namespace
}  // namespace leakgate
