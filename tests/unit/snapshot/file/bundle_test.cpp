// Bundles of snapshots: what is written is what is read, and what a hostile archive may not do.
#include "runner/snapshot/file/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/results/zip_bytes.h"
#include "tests/unit/snapshot/file/sample_snapshot.h"

namespace leakgate {
namespace {

using sample::SmallSnapshot;
using sample::WholeSnapshot;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class BundleTest : public testing::Test {
 protected:
  std::string Written(const std::vector<zip::File>& files) const {
    return directory_.Write("bundle.zip", zip::Bytes(files));
  }
  static Expected<WholeSnapshot> Read(const std::string& path) {
    WholeSnapshot whole;
    const Expected<void> read = ReadSnapshot(path, sample::Into(whole));
    if (!read) return Unexpected(read.error());
    return whole;
  }

  const test::TemporaryDirectory directory_;
};

TEST_F(BundleTest, HasWhatWasAdded) {
  Expected<BundleWriter> bundle = BundleWriter::Create();
  ASSERT_TRUE(bundle);
  using Packing = BundleWriter::Packing;
  ASSERT_TRUE(bundle->Add("b.snapshot", SmallSnapshot(), Packing::kAsItIs));
  ASSERT_TRUE(bundle->Add("a.snapshot", SmallSnapshot(), Packing::kAsItIs));
  ASSERT_TRUE(bundle->Add(kManifestName, "{\"text\": 1}", Packing::kPacked));
  const std::string path = directory_.File("bundle.zip");
  ASSERT_TRUE(bundle->Finish(path));

  EXPECT_TRUE(IsBundle(path));
  EXPECT_THAT(SnapshotsIn(path).value(), ElementsAre("a.snapshot", "b.snapshot"));
  EXPECT_EQ(ManifestOf(path).value(), "{\"text\": 1}");
  const Expected<WholeSnapshot> whole = Read(path + "/b.snapshot");
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->facts.pid, 4242);
  EXPECT_THAT(whole->blocks, SizeIs(3));
}

// A path is never made of a name: whatever is named so is read in the archive.
TEST_F(BundleTest, ReadsNothingOutsideOfIt) {
  const std::string path = Written({{"../../outside.snapshot", SmallSnapshot()}});
  EXPECT_THAT(SnapshotsIn(path).value(), ElementsAre("../../outside.snapshot"));
  EXPECT_TRUE(Read(path));  // the only one
  directory_.Write("outside.snapshot", SmallSnapshot());
  const Expected<WholeSnapshot> outside = Read(path + "/../outside.snapshot");
  ASSERT_FALSE(outside);
  EXPECT_THAT(outside.error().message, HasSubstr("no such snapshot in this bundle"));
}

TEST_F(BundleTest, ReadsAbsoluteNamesInIt) {
  const std::string outside = directory_.Write("outside.snapshot", "no snapshot");
  const std::string path = Written({{outside, SmallSnapshot()}, {"a.snapshot", "x"}});
  ASSERT_THAT(SnapshotsIn(path).value(), ElementsAre(outside, "a.snapshot"));
  const Expected<WholeSnapshot> whole = Read(PathInBundle(path, outside).string());
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->facts.pid, 4242);
}

TEST_F(BundleTest, IsRefusedWithTwoOfOneName) {
  const std::string path = Written({{"a.snapshot", "x"}, {"a.snapshot", SmallSnapshot()}});
  const auto names = SnapshotsIn(path);
  ASSERT_FALSE(names);
  EXPECT_THAT(names.error().message, HasSubstr("holds two files named a.snapshot"));
}

TEST_F(BundleTest, IsRefusedIfItWouldUnpackToFarMore) {
  zip::File bomb{"a.snapshot", std::string(1000, 'x')};
  bomb.size = 0xfff0'0000;
  const auto names = SnapshotsIn(Written({bomb}));
  ASSERT_FALSE(names);
  EXPECT_THAT(names.error().message, HasSubstr("MiB of *.snapshot in"));
}

TEST_F(BundleTest, NeedsNoManifestAndASnapshot) {
  EXPECT_EQ(ManifestOf(Written({{"a.snapshot", SmallSnapshot()}})).value(), "");
  const auto none = SnapshotsIn(Written({{"report.json", "{}"}}));
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("no snapshot is in this archive; name one"));
}

TEST_F(BundleTest, SaysThatASnapshotInItIsNone) {
  const Expected<WholeSnapshot> whole = Read(Written({{"a.snapshot", "anything else"}}));
  ASSERT_FALSE(whole);
  EXPECT_THAT(whole.error().message, HasSubstr("bundle.zip: not a snapshot"));
}

SymbolsToAdd Symbols(const std::string& function) {
  SymbolsToAdd symbols;
  symbols.symbols.push_back(
      {.module = 1,
       .pc = 0x1100,
       .frames = {{.function = function, .file = "/src/pool.cc", .line = 88, .is_inlined = true},
                  {.function = "main", .called_function = "malloc", .wrapper = 2}}});
  symbols.problems.push_back({1, "it is not here"});
  return symbols;
}

TEST_F(BundleTest, AddsSymbolsToASnapshot) {
  const Expected<std::string> once = WithSymbols(SmallSnapshot(), "sample", Symbols("Old()"));
  ASSERT_TRUE(once) << once.error().message;
  const Expected<std::string> bytes = WithSymbols(*once, "sample", Symbols("Grow()"));
  ASSERT_TRUE(bytes) << bytes.error().message;
  std::vector<SnapshotSymbols> symbols;
  std::string problem;
  SnapshotVisitor visitor;
  visitor.symbols = [&](SnapshotSymbols&& it) { symbols.push_back(std::move(it)); };
  visitor.symbol_problem = [&](SnapshotSymbolProblem&& it) { problem = it.problem; };
  std::istringstream in(*bytes);
  const Expected<void> read = ReadSnapshot(in, "sample", visitor);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_THAT(symbols, SizeIs(1));
  EXPECT_EQ(symbols[0].pc, 0x1100U);
  ASSERT_THAT(symbols[0].frames, SizeIs(2));
  EXPECT_EQ(symbols[0].frames[0].function, "Grow()");
  EXPECT_EQ(symbols[0].frames[0].line, 88U);
  EXPECT_TRUE(symbols[0].frames[0].is_inlined);
  EXPECT_EQ(symbols[0].frames[1].called_function, "malloc");
  EXPECT_EQ(symbols[0].frames[1].wrapper, 2U);
  EXPECT_EQ(problem, "it is not here");
}

// Of a module that the file does not have.
TEST_F(BundleTest, RefusesSymbolsOfNoModule) {
  SymbolsToAdd symbols = Symbols("Grow()");
  symbols.symbols[0].module = 7;
  const Expected<std::string> bytes = WithSymbols(SmallSnapshot(), "sample", symbols);
  ASSERT_TRUE(bytes);
  EXPECT_FALSE(sample::ReadBytes(*bytes));
}

}  // namespace
}  // namespace leakgate
