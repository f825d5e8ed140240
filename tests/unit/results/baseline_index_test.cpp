// An index gives back what was put in, and what is damaged is never taken for something else.
#include "runner/results/baseline_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace leakgate {
namespace {

ReadIndexAt ReadFrom(const std::string& text) {
  return [&text](std::uint64_t offset, char* to, std::size_t size) {
    if (offset > text.size() || size > text.size() - offset) return false;
    std::memcpy(to, text.data() + offset, size);
    return true;
  };
}

IndexedReport SomeReport() {
  return {.version = {.device = 1, .inode = 2, .size = 3, .modified_ns = -4, .changed_ns = 5},
          .is_settled = true,
          .hash = {6, 7}};
}

BaselineWindows SomeWindows() {
  BaselineWindows windows;
  windows["program"].blocks = {{"main\n", 1}, {"", 2}};
  windows["test A.B"].excess = {{Metric::kThreads, 3}, {Metric::kFileDescriptors, -1}};
  windows["test A.C"].free_errors = {"freed twice\nmain\n", std::string("\0x", 2)};
  for (int i = 0; i < 40; ++i) {
    windows["test Many." + std::to_string(i)].blocks["f" + std::to_string(i)] = i + 1;
  }
  windows["suite A"];  // has nothing
  return windows;
}

TEST(BaselineIndexTest, GivesBackEachWindow) {
  const std::string text = IndexText(SomeReport(), SomeWindows());
  const auto index = BaselineIndex::Open(ReadFrom(text));
  ASSERT_TRUE(index);
  EXPECT_EQ(index->report(), SomeReport());
  for (const auto& [identity, window] : SomeWindows()) {
    EXPECT_EQ(index->Read(identity), window) << identity;
  }
}

TEST(BaselineIndexTest, HasNothingOfOtherWindows) {
  const std::string text = IndexText(SomeReport(), SomeWindows());
  const auto index = BaselineIndex::Open(ReadFrom(text));
  ASSERT_TRUE(index);
  for (const char* const identity : {"", "test A", "test A.B ", "test Many.40"}) {
    EXPECT_EQ(index->Read(identity), BaselineWindow{}) << identity;
  }
}

TEST(BaselineIndexTest, OfNoWindowIsAnIndexToo) {
  const std::string text = IndexText(SomeReport(), {});
  const auto index = BaselineIndex::Open(ReadFrom(text));
  ASSERT_TRUE(index);
  EXPECT_EQ(index->Read("program"), BaselineWindow{});
}

TEST(BaselineIndexTest, NoDamageIsTakenForSomethingElse) {
  const std::string whole = IndexText(SomeReport(), SomeWindows());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string text = whole;
    text[at] = static_cast<char>(text[at] ^ 1);
    const auto index = BaselineIndex::Open(ReadFrom(text));
    if (!index) continue;
    EXPECT_EQ(index->report(), SomeReport());
    for (const auto& [identity, window] : SomeWindows()) {
      const std::optional<BaselineWindow> read = index->Read(identity);
      EXPECT_EQ(read.value_or(window), window) << identity << " with another byte at " << at;
    }
  }
}

TEST(BaselineIndexTest, WhatWasCutOffIsDamaged) {
  const std::string whole = IndexText(SomeReport(), SomeWindows());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string text = whole.substr(0, size);
    const auto index = BaselineIndex::Open(ReadFrom(text));
    if (!index) continue;
    bool is_noticed = false;
    for (const auto& [identity, window] : SomeWindows()) {
      const std::optional<BaselineWindow> read = index->Read(identity);
      is_noticed = is_noticed || !read;
      EXPECT_EQ(read.value_or(window), window) << identity;
    }
    EXPECT_TRUE(is_noticed) << size;
  }
}

TEST(BaselineIndexTest, TakesAnotherStateOfTheSameReport) {
  IndexedReport moved = SomeReport();
  moved.version.inode = 99;
  const std::string text = WithReport(IndexText(SomeReport(), SomeWindows()), moved);
  EXPECT_EQ(text, IndexText(moved, SomeWindows()));
  EXPECT_EQ(WithReport("no index", moved), "");
}

}  // namespace
}  // namespace leakgate
