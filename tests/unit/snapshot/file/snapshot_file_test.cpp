// What is written into a snapshot file is what is read from it; and of a file that is not
// whole, one clear error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "runner/snapshot/file/parts.h"
#include "runner/snapshot/file/records.h"
#include "tests/unit/snapshot/file/sample_snapshot.h"

namespace leakgate {
namespace {

using sample::ReadBytes;
using sample::SmallSnapshot;
using sample::WholeSnapshot;
using snapshot_format::ByteWriter;
using snapshot_format::PartKind;
using snapshot_format::PartWriter;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

TEST(SnapshotFileTest, GivesBackWhatWasWritten) {
  const Expected<WholeSnapshot> whole = ReadBytes(SmallSnapshot());
  ASSERT_TRUE(whole) << whole.error().message;
  const SnapshotFacts facts = sample::Facts();
  EXPECT_EQ(whole->facts.pid, 4242);
  EXPECT_EQ(whole->facts.generation, 2U);
  EXPECT_EQ(whole->facts.moment, SnapshotMoment::kStopped);
  EXPECT_EQ(whole->facts.image, facts.image);
  EXPECT_EQ(whole->facts.command_line, facts.command_line);
  EXPECT_EQ(whole->facts.occasion, facts.occasion);
  EXPECT_EQ(whole->facts.taken_unix_ns, facts.taken_unix_ns);
  EXPECT_EQ(whole->facts.not_recorded, facts.not_recorded);
  EXPECT_EQ(whole->facts.leakgate_version, "0.1.0");
  EXPECT_TRUE(IsSameProcess(whole->facts, facts));

  ASSERT_THAT(whole->modules, SizeIs(1));
  EXPECT_EQ(whole->modules[0].module.path, "/src/build/net_test");
  EXPECT_EQ(whole->modules[0].module.build_id, "ab12");
  EXPECT_EQ(whole->modules[0].module.bias, 0x1000U);

  ASSERT_THAT(whole->windows, SizeIs(2));
  EXPECT_EQ(whole->windows[1].id, 2U);
  EXPECT_EQ(whole->windows[1].parent, 1U);
  EXPECT_EQ(whole->windows[1].name, "HttpTest.KeepAlive");
  EXPECT_EQ(whole->windows[1].begin_ns, 2'000'000'000U);
  EXPECT_EQ(whole->windows[1].end_ns, 3'000'000'000U);

  ASSERT_THAT(whole->threads, SizeIs(2));
  EXPECT_EQ(whole->threads[1].tid, 4243);
  EXPECT_EQ(whole->threads[1].name, "worker");
  EXPECT_EQ(whole->threads[1].origin_stack, kStackRootCount + 2);
  EXPECT_TRUE(whole->threads[1].has_ended);

  ASSERT_THAT(whole->nodes, SizeIs(3));
  EXPECT_EQ(whole->nodes[0].parent, 0U);
  EXPECT_EQ(whole->nodes[1].parent, kStackRootCount);
  EXPECT_EQ(whole->nodes[2].parent, kStackRootCount);
  EXPECT_EQ(whole->nodes[1].pc, 0x1080U);
  EXPECT_EQ(whole->nodes[2].pc, 0x1fffU);

  ASSERT_THAT(whole->mappings, SizeIs(1));
  EXPECT_EQ(whole->mappings[0].bytes, 65536U);
  EXPECT_EQ(whole->mappings[0].kind, AllocationKind::kMappedFile);
  EXPECT_EQ(whole->mappings[0].protection, 1U);
  EXPECT_EQ(whole->mappings[0].mapped_ns, 2'500'000'000U);

  EXPECT_EQ(whole->closing.blocks, 3U);
  EXPECT_EQ(whole->closing.bytes, 4152U);
  EXPECT_EQ(whole->closing.current_window, 2U);
}

std::string WithMapping(const MappingPages& pages, const std::optional<SnapshotPages>& all) {
  return sample::Written(sample::Facts(), {}, [&](SnapshotWriter& writer) {
    writer.Add(SnapshotMapping{
        .address = 0x1000, .bytes = 65536, .kind = AllocationKind::kMapped, .pages = pages});
    writer.records().FlushAllButBlocks();
    if (all) writer.records().WriteAlone(PartKind::kPages, *all);
  });
}

TEST(SnapshotFileTest, HasThePagesOfMappings) {
  const Expected<WholeSnapshot> whole = ReadBytes(
      WithMapping({.are_known = true,
                   .resident_bytes = 40960,
                   .swapped_bytes = 8192,
                   .lazily_freed_bytes = 4096},
                  SnapshotPages{.source = PageSource::kScan, .unassigned_lazily_freed_bytes = 12}));
  ASSERT_TRUE(whole) << whole.error().message;
  ASSERT_THAT(whole->mappings, SizeIs(1));
  EXPECT_TRUE(whole->mappings[0].pages.are_known);
  EXPECT_EQ(whole->mappings[0].pages.resident_bytes, 40960U);
  EXPECT_EQ(whole->mappings[0].pages.swapped_bytes, 8192U);
  EXPECT_EQ(whole->mappings[0].pages.lazily_freed_bytes, 4096U);
  ASSERT_TRUE(whole->pages);
  EXPECT_EQ(whole->pages->source, PageSource::kScan);
  EXPECT_EQ(whole->pages->unassigned_lazily_freed_bytes, 12U);
}

TEST(SnapshotFileTest, SaysWhyPagesAreNotKnown) {
  const Expected<WholeSnapshot> whole =
      ReadBytes(WithMapping({}, SnapshotPages{.problem = "the process had ended"}));
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_FALSE(whole->mappings[0].pages.are_known);
  ASSERT_TRUE(whole->pages);
  EXPECT_EQ(whole->pages->problem, "the process had ended");
}

// As leakgate wrote it before it knew of pages.
TEST(SnapshotFileTest, KnowsNoPagesOfEarlierFiles) {
  ByteWriter record;
  for (const std::uint64_t number : {0x1000U, 65536U, 7U, 3U, 0U, 0U, 0U, 0U}) {
    record.Number(number);
  }
  SnapshotMapping mapping{.pages = {.are_known = false, .resident_bytes = 0}};
  ASSERT_TRUE(snapshot_format::Decode(snapshot_format::ByteReader(record.bytes()), mapping));
  EXPECT_EQ(mapping.bytes, 65536U);
  EXPECT_FALSE(mapping.pages.are_known);
}

TEST(SnapshotFileTest, RefusesMorePagesThanAMappingHas) {
  for (const MappingPages& pages :
       {MappingPages{.are_known = true, .resident_bytes = 65537},
        MappingPages{.are_known = true, .resident_bytes = 65536, .swapped_bytes = 1},
        MappingPages{.are_known = true, .swapped_bytes = UINT64_MAX},
        MappingPages{.are_known = true, .resident_bytes = 1, .lazily_freed_bytes = 2}}) {
    const Expected<WholeSnapshot> whole = ReadBytes(WithMapping(pages, std::nullopt));
    ASSERT_FALSE(whole);
    EXPECT_THAT(whole.error().message, HasSubstr("a record does not fit the others"));
  }
}

std::string WithFrees(const std::vector<SnapshotFrees>& frees) {
  SnapshotFacts facts = sample::Facts();
  facts.stack_events = kAllStackEvents;
  return sample::Written(facts, {}, [&](SnapshotWriter& writer) {
    (void)writer.Add(SnapshotNode{0x1100, 0, 0});
    for (const SnapshotFrees& it : frees) writer.Add(it);
  });
}

TEST(SnapshotFileTest, GivesBackWhoHasFreed) {
  const auto whole = ReadBytes(WithFrees({{kStackRootCount, 1'000'000'000'000, 7}, {7, 64, 1}}));
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->facts.stack_events, kAllStackEvents);
  ASSERT_THAT(whole->frees, SizeIs(2));
  EXPECT_EQ(whole->frees[0].stack, kStackRootCount);
  EXPECT_EQ(whole->frees[0].bytes, 1'000'000'000'000U);
  EXPECT_EQ(whole->frees[0].blocks, 7U);
  EXPECT_EQ(whole->frees[1].stack, static_cast<std::uint32_t>(UnwindEnd::kNotTaken));
}

TEST(SnapshotFileTest, RefusesFreesThatCannotBe) {
  constexpr std::uint64_t kTooMuch = (1ULL << 62) + 1;
  EXPECT_FALSE(ReadBytes(WithFrees({{kStackRootCount + 1, 1, 1}})));  // there is no such stack
  EXPECT_FALSE(ReadBytes(WithFrees({{kStackRootCount, kTooMuch, 1}})));
  EXPECT_FALSE(
      ReadBytes(WithFrees({{kStackRootCount, kTooMuch / 2, 1}, {7, kTooMuch / 2 + 1, 1}})));
  EXPECT_FALSE(ReadBytes(WithFrees({{kStackRootCount, 1, kTooMuch}})));
}

// Facts that earlier leakgates wrote end before whose stacks were recorded, or before the name.
TEST(SnapshotFileTest, TakesFactsThatDoNotTellWhoseStacks) {
  ByteWriter record;
  SnapshotFacts sent = sample::Facts();
  sent.stack_events = kStacksOfFree;
  sent.name = "";
  Encode(sent, record);
  std::string bytes(record.bytes());
  bytes.pop_back();
  SnapshotFacts with_stacks;
  ASSERT_TRUE(Decode(snapshot_format::ByteReader(bytes), with_stacks));
  EXPECT_EQ(with_stacks.stack_events, kStacksOfFree);
  bytes.pop_back();
  SnapshotFacts facts;
  ASSERT_TRUE(Decode(snapshot_format::ByteReader(bytes), facts));
  EXPECT_EQ(facts.stack_events, kDefaultStackEvents);
  EXPECT_EQ(facts.leakgate_version, "0.1.0");
}

TEST(SnapshotFileTest, TellsWhatTheProgramWasCalledBy) {
  SnapshotFacts facts = sample::Facts();
  EXPECT_EQ(ReadBytes(sample::Written(facts, {}, [](SnapshotWriter&) {}))->facts.name, facts.image);
  facts.name = "/src/build/net";
  EXPECT_EQ(ReadBytes(sample::Written(facts, {}, [](SnapshotWriter&) {}))->facts.name, facts.name);
}

auto Block(std::uint64_t address, std::uint64_t size, AllocationKind kind, std::uint32_t stack,
           std::uint32_t window, std::uint32_t thread) {
  return testing::AllOf(testing::Field("address", &LiveBlock::address, address),
                        testing::Field("size", &LiveBlock::size_bytes, size),
                        testing::Field("kind", &LiveBlock::kind, kind),
                        testing::Field("stack", &LiveBlock::stack, kStackRootCount + stack),
                        testing::Field("window", &LiveBlock::window, window),
                        testing::Field("thread", &LiveBlock::thread, thread));
}

TEST(SnapshotFileTest, GivesBackEachBlock) {
  EXPECT_THAT(ReadBytes(SmallSnapshot())->blocks,
              ElementsAre(Block(0x5555'0000'1040, 56, AllocationKind::kNew, 1, 2, 1),
                          Block(0x5555'0000'1080, 4096, AllocationKind::kMalloc, 2, 1, 2),
                          Block(0x7fff'0000'0000, 0, AllocationKind::kNewArray, 1, 2, 1)));
}

// More than fill one part, of many contexts, with frames that come up on the way.
TEST(SnapshotFileTest, GivesBackMoreBlocksThanAPartHolds) {
  constexpr std::uint64_t kBlocks = 100'000;
  const std::string bytes = sample::Written({}, {}, [](SnapshotWriter& writer) {
    for (std::uint32_t id = 1; id <= 50; ++id) writer.Add(SnapshotWindow{.id = id});
    std::uint32_t stack = 0;
    for (std::uint64_t i = 0; i < kBlocks; ++i) {
      if (i % 100 == 0) stack = writer.Add(SnapshotNode{i, stack % 7 == 0 ? 0 : stack, 0});
      writer.Add(LiveBlock{0x1000 + 32 * i * i, i * 3, AllocationKind::kCalloc, false, 0, stack,
                           static_cast<std::uint32_t>(1 + i % 50), 0});
    }
  });
  const Expected<WholeSnapshot> whole = ReadBytes(bytes);
  ASSERT_TRUE(whole) << whole.error().message;
  ASSERT_THAT(whole->blocks, SizeIs(kBlocks));
  for (std::uint64_t i = 0; i < kBlocks; ++i) {
    const LiveBlock& block = whole->blocks[i];
    ASSERT_EQ(block.address, 0x1000 + 32 * i * i);
    ASSERT_EQ(block.size_bytes, i * 3);
    ASSERT_EQ(block.window, 1 + i % 50);
    ASSERT_EQ(whole->nodes.at(block.stack - kStackRootCount).pc, i / 100 * 100);
  }
}

TEST(SnapshotFileTest, IsForItsOwnerAlone) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.File("a.snapshot");
  SnapshotWriter writer = SnapshotWriter::Create(path, {}).value();
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(writer.Finish({}));
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST(SnapshotFileTest, IsNotThereIfItWasNotFinished) {
  const test::TemporaryDirectory directory;
  { const Expected<SnapshotWriter> writer = SnapshotWriter::Create(directory.File("a"), {}); }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

// Whatever is broken, the error is the file's, of one line, and a usage error.
void ExpectBroken(const std::string& bytes, const std::string& what) {
  const Expected<WholeSnapshot> whole = ReadBytes(bytes);
  ASSERT_FALSE(whole) << what;
  ASSERT_THAT(whole.error().message, StartsWith("sample: ")) << what;
  ASSERT_EQ(whole.error().message.find('\n'), std::string::npos) << what;
  ASSERT_EQ(whole.error().exit_code, ExitCode::kUsage) << what;
}

TEST(BrokenSnapshotTest, IsToldWhereverItIsCutOff) {
  const std::string whole = SmallSnapshot();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ExpectBroken(whole.substr(0, size), "cut off at " + std::to_string(size));
  }
}

TEST(BrokenSnapshotTest, IsToldWhicheverBitHasFlipped) {
  const std::string whole = SmallSnapshot();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string broken = whole;
      broken[at] = static_cast<char>(broken[at] ^ (1 << bit));
      ExpectBroken(broken, "bit " + std::to_string(bit) + " of byte " + std::to_string(at));
    }
  }
}

TEST(BrokenSnapshotTest, IsToldByWhatIsWrong) {
  const std::string whole = SmallSnapshot();
  const auto message = [](const std::string& bytes) { return ReadBytes(bytes).error().message; };
  EXPECT_EQ(message(""),
            "sample: not a snapshot of leakgate's; name a file that leakgate snapshot "
            "take or leakgate run --snapshots wrote");
  EXPECT_EQ(message("leakgate-snapshot-2\n" + whole.substr(20)),
            "sample: a snapshot of another version of leakgate; look at it with that one");
  EXPECT_EQ(message(whole.substr(0, 100)),
            "sample: the snapshot was cut off at byte 100; copy it again");
  EXPECT_THAT(message(whole + "x"), HasSubstr("cut off"));
  EXPECT_THAT(message(whole + whole.substr(20)), HasSubstr("a part is missing, or there twice"));
  std::string flipped = whole;
  flipped[60] ^= 1;
  EXPECT_EQ(message(flipped),
            "sample: not a whole snapshot: a checksum does not match (part 0, at byte 20); copy it "
            "again");
}

TEST(BrokenSnapshotTest, IsToldIfThereIsNoSuchFile) {
  const Expected<void> read = ReadSnapshot("/nowhere/a.snapshot", {});
  EXPECT_EQ(read.error().message,
            "/nowhere/a.snapshot: cannot be read: No such file or directory; name a snapshot file");
  EXPECT_EQ(ReadSnapshot("/", {}).error().message, "/: a directory; name a snapshot file in it");
}

// Parts with right checksums, as somebody may make them who means harm.
class MadePartsTest : public testing::Test {
 protected:
  MadePartsTest() : writer_(out_) {
    ByteWriter facts;
    Encode(sample::Facts(), facts);
    writer_.Write(PartKind::kFacts, facts.bytes());
  }

  void Part(PartKind kind, const std::vector<std::uint64_t>& numbers) {
    ByteWriter plain;
    for (const std::uint64_t number : numbers) plain.Number(number);
    writer_.Write(kind, plain.bytes());
  }
  template <typename Record>
  void Records(PartKind kind, const std::vector<Record>& records) {
    ByteWriter plain;
    for (const Record& it : records) {
      ByteWriter record;
      Encode(it, record);
      plain.Text(record.bytes());
    }
    writer_.Write(kind, plain.bytes());
  }
  void Close(const SnapshotClosing& closing = {}) {
    ByteWriter record;
    Encode(closing, record);
    writer_.Write(PartKind::kClosing, record.bytes());
  }
  std::string Problem() const {
    const Expected<WholeSnapshot> whole = ReadBytes(out_.str());
    return whole ? "none" : whole.error().message;
  }

  std::ostringstream out_;
  PartWriter writer_;
};

TEST_F(MadePartsTest, AreSkippedWhereALaterLeakgateHasAddedThem) {
  Part(static_cast<PartKind>(77), {1, 2, 3});
  Close();
  EXPECT_EQ(Problem(), "none");
}

TEST_F(MadePartsTest, MayHaveLongerRecordsOfALaterLeakgate) {
  ByteWriter record;
  Encode(SnapshotWindow{.id = 1, .name = "A.B"}, record);
  record.Number(4711);
  ByteWriter plain;
  plain.Text(record.bytes());
  writer_.Write(PartKind::kWindows, plain.bytes());
  Close();
  EXPECT_EQ(Problem(), "none");
}

TEST_F(MadePartsTest, MustEnd) { EXPECT_THAT(Problem(), HasSubstr("its end is missing")); }

TEST_F(MadePartsTest, MustEndOnce) {
  Close();
  Close();
  EXPECT_THAT(Problem(), HasSubstr("something follows its end"));
}

TEST_F(MadePartsTest, MustBeginOnce) {
  ByteWriter facts;
  Encode(sample::Facts(), facts);
  writer_.Write(PartKind::kFacts, facts.bytes());
  EXPECT_THAT(Problem(), HasSubstr("its beginning is there twice"));
}

TEST_F(MadePartsTest, MustHoldAsManyBlocksAsTheEndSays) {
  Close({.blocks = 1});
  EXPECT_THAT(Problem(), HasSubstr("blocks are missing"));
}

TEST_F(MadePartsTest, MayNotNameAFrameThatComesLater) {
  Part(PartKind::kStacks, {0, 0, 0});
  EXPECT_THAT(Problem(), HasSubstr("a stack is damaged"));
}

TEST_F(MadePartsTest, MayNotNameAModuleThatThereIsNot) {
  Part(PartKind::kStacks, {1, 5, 0});
  EXPECT_THAT(Problem(), HasSubstr("a stack is damaged"));
}

TEST_F(MadePartsTest, MayNotNameAWindowTwice) {
  Records<SnapshotWindow>(PartKind::kWindows, {{.id = 1}, {.id = 1}});
  EXPECT_THAT(Problem(), HasSubstr("a record does not fit the others"));
}

TEST_F(MadePartsTest, MayNotNameAWindowBeyondTheirNumber) {
  Records<SnapshotWindow>(PartKind::kWindows, {{.id = kMaxWindows}});
  EXPECT_THAT(Problem(), HasSubstr("a record does not fit the others"));
}

TEST_F(MadePartsTest, MayNotHaveMoreTextThanThereIs) {
  Part(PartKind::kWindows, {20, 1, 1, 1});
  EXPECT_THAT(Problem(), HasSubstr("a record is damaged"));
}

// Counts of a part are no more than what it holds, so they make nobody allocate.
TEST_F(MadePartsTest, MayNotCountMoreBlocksThanThereAre) {
  Part(PartKind::kBlocks, {1ULL << 60, 0, 0, 0, 0, 0, 0});
  EXPECT_THAT(Problem(), HasSubstr("a block is damaged"));
}

TEST_F(MadePartsTest, MayNotCountMoreContextsThanThereAre) {
  Part(PartKind::kBlocks, {1, 0, 1ULL << 60, 0, 0, 0, 0});
  EXPECT_THAT(Problem(), HasSubstr("a block is damaged"));
}

TEST_F(MadePartsTest, MayNotHaveALargeBlockThanAnAddressSpace) {
  ByteWriter size;
  size.Number(UINT64_MAX);
  ByteWriter plain;
  for (const std::uint64_t number : {1U, 16U, 1U, 0U, 0U}) plain.Number(number);
  plain.Text(std::string(1, '\0'));
  plain.Text(size.bytes());
  plain.Text(std::string(1, '\0'));
  plain.Text(std::string(1, '\1'));
  writer_.Write(PartKind::kBlocks, plain.bytes());
  EXPECT_THAT(Problem(), HasSubstr("a block is damaged"));
}

}  // namespace
}  // namespace leakgate
