#include "runner/etw/file/read_etl.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "runner/etw/file/etl_heaps.h"
#include "tests/support/etl_writer.h"

namespace leakgate {
namespace {

using test::BytesOf;
using test::EtlBytes;
using test::EtlHeader;
using test::EtlWriter;
using test::EventMaker;
using test::FileRecord;
using test::MadeBuffer;
using test::ModuleRecord;
using test::RecordOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr std::uint32_t kProgram = 77;

// Of two processors, in no order: the block at 0x1000 stays, that at 0x2000 is freed.
EtlWriter MergedBuffers() {
  const EventMaker make(kProgram);
  EtlWriter file;
  file.Add(
      {.records = {FileRecord(4, 0, 0), ModuleRecord(kProgram, 0x400000, 0x1000, u"\\D\\a.exe")}});
  file.Add({.records = {RecordOf(make.Free(30, 0x2000))}});
  file.Add({.records = {RecordOf(make.Allocate(10, 0x1000, 30)),
                        RecordOf(make.Stack(10, {0x400010, 0x7f0000})),
                        RecordOf(make.Stack(15, {0x400666}))}});  // of another event
  file.Add(
      {.records = {RecordOf(make.Allocate(20, 0x2000, 64)), RecordOf(make.Stack(20, {0x400020}))}});
  return file;
}

TEST(ReadEtlTest, ReadsBuffersInTheOrderOfTheirEvents) {
  const EtlWriter file = MergedBuffers();

  const EtlHeaps heaps = ReadEtlHeaps(BytesOf(file.bytes), 0).value();

  EXPECT_EQ(DescribeGaps(heaps.gaps), "");
  ASSERT_THAT(heaps.processes, SizeIs(1));
  const EtlProcess& process = heaps.processes[0];
  EXPECT_EQ(process.pid, kProgram);
  EXPECT_EQ(process.image, "a.exe");
  EXPECT_EQ(process.bytes, 30u);
  ASSERT_THAT(process.groups, SizeIs(1));
  EXPECT_THAT(process.groups[0].frames, ElementsAre("a.exe+0x10", "0x7f0000"));
  EXPECT_EQ(DescribeLosses(process.losses), "");
  EXPECT_TRUE(IsWhole(process, heaps.gaps));
}

// How many blocks each frame has, where one is allocated at each time by the same call.
std::vector<std::string> FramesOver(const std::vector<EtlBytes>& modules,
                                    const std::vector<std::uint64_t>& times) {
  const EventMaker make(kProgram);
  EtlWriter file;
  file.Add({.records = modules});
  std::vector<EtlBytes> records;
  for (const std::uint64_t time : times) {
    records.push_back(RecordOf(make.Allocate(time, 0x1000 * time, 1)));
    records.push_back(RecordOf(make.Stack(time, {0x400010})));
  }
  file.Add({.records = records});
  const EtlHeaps heaps = ReadEtlHeaps(BytesOf(file.bytes), 0).value();
  std::vector<std::string> frames;
  for (const EtlStackGroup& group : heaps.processes[0].groups) {
    frames.push_back(fmt::format("{} of {}", group.blocks, group.frames[0]));
  }
  return frames;
}

EtlBytes ModuleAt(std::uint64_t time, std::u16string_view name, std::uint8_t opcode,
                  std::uint64_t begin = 0x400000) {
  return ModuleRecord(kProgram, begin, 0x1000, name, time, opcode);
}

TEST(ReadEtlTest, NamesTheModuleThatWasThereAtTheTime) {
  EXPECT_THAT(FramesOver({ModuleAt(10, u"a.dll", test::kModuleLoaded),
                          ModuleAt(20, u"a.dll", test::kModuleUnloaded),
                          ModuleAt(30, u"b.dll", test::kModuleLoaded)},
                         {5, 15, 25, 35}),
              UnorderedElementsAre("2 of 0x400010", "1 of a.dll+0x10", "1 of b.dll+0x10"));
}

TEST(ReadEtlTest, AddsUpTheStacksOfOneModuleWhileOthersComeAndGo) {
  EXPECT_THAT(FramesOver({ModuleAt(1, u"a.dll", test::kModuleLoaded),
                          ModuleAt(20, u"b.dll", test::kModuleLoaded, 0x900000),
                          ModuleAt(30, u"b.dll", test::kModuleUnloaded, 0x900000)},
                         {15, 25, 35}),
              ElementsAre("3 of a.dll+0x10"));
}

TEST(ReadEtlTest, KnowsModulesThatWereThereBeforeTheRecording) {
  EXPECT_THAT(FramesOver({ModuleAt(10, u"a.dll", test::kModuleAtBegin)}, {5, 15}),
              ElementsAre("2 of a.dll+0x10"));
  EXPECT_THAT(FramesOver({ModuleAt(10, u"a.dll", test::kModuleUnloaded),
                          ModuleAt(20, u"b.dll", test::kModuleAtEnd)},
                         {5, 15}),
              UnorderedElementsAre("1 of a.dll+0x10", "1 of b.dll+0x10"));
}

TEST(ReadEtlTest, TakesAModuleThatIsToldTwiceForOne) {
  EXPECT_THAT(FramesOver({ModuleAt(10, u"a.dll", test::kModuleLoaded),
                          ModuleAt(12, u"a.dll", test::kModuleAtBegin),
                          ModuleAt(40, u"a.dll", test::kModuleAtEnd)},
                         {5, 11, 15}),
              UnorderedElementsAre("1 of 0x400010", "2 of a.dll+0x10"));
}

// The event of its end is lost.
TEST(ReadEtlTest, AModuleEndsWhereAnotherIsLoadedOverIt) {
  EXPECT_THAT(FramesOver({ModuleAt(10, u"a.dll", test::kModuleLoaded, 0x400008),
                          ModuleAt(20, u"b.dll", test::kModuleLoaded, 0x3ff800)},
                         {15, 25}),
              UnorderedElementsAre("1 of a.dll+0x8", "1 of b.dll+0x810"));
}

TEST(ReadEtlTest, ReadsProgramsOf32BitsAndCompactHeaders) {
  const EventMaker make(kProgram, 4);
  EtlWriter file;
  file.Add({.records = {RecordOf(make.Allocate(10, 0x1000, 30), EtlHeader::kCompact),
                        RecordOf(make.Stack(10, {0x401, 0x402}), EtlHeader::kPerformance)}});

  const EtlHeaps heaps = ReadEtlHeaps(BytesOf(file.bytes), 0).value();

  ASSERT_THAT(heaps.processes, SizeIs(1));
  ASSERT_THAT(heaps.processes[0].groups, SizeIs(1));
  EXPECT_THAT(heaps.processes[0].groups[0].frames, ElementsAre("0x401", "0x402"));
}

TEST(ReadEtlTest, ShowsTheProcessThatIsAskedForAndCountsTheOthers) {
  EtlWriter file;
  file.Add({.records = {RecordOf(EventMaker(5).Allocate(10, 0x1000, 30)),
                        RecordOf(EventMaker(6).Allocate(11, 0x1000, 7)),
                        RecordOf(EventMaker(6).Allocate(12, 0x2000, 8))}});

  const EtlHeaps heaps = ReadEtlHeaps(BytesOf(file.bytes), 5).value();

  ASSERT_THAT(heaps.processes, SizeIs(2));
  EXPECT_EQ(heaps.processes[0].pid, 6u);
  EXPECT_EQ(heaps.processes[0].bytes, 15u);
  EXPECT_THAT(heaps.processes[0].groups, IsEmpty());
  EXPECT_THAT(heaps.processes[1].groups, SizeIs(1));
}

std::string GapsOf(const EtlBytes& bytes) {
  return DescribeGaps(ReadEtlHeaps(BytesOf(bytes), 0).value().gaps);
}

TEST(ReadEtlTest, SaysWhatTheFileLacks) {
  const EventMaker make(kProgram);
  EtlWriter lost;
  lost.Add({.records = {FileRecord(1, 5, 2), RecordOf(make.Allocate(10, 0x1000, 30))}});
  EXPECT_EQ(GapsOf(lost.bytes), "5 events lost, 2 buffers lost");

  EtlWriter marked;
  marked.Add({.records = {RecordOf(make.Allocate(10, 0x1000, 30))}, .flags = 2});
  EXPECT_EQ(GapsOf(marked.bytes), "1 event lost");

  EtlWriter compressed;
  compressed.Add({.flags = 0x40});
  EXPECT_THAT(GapsOf(compressed.bytes), HasSubstr("1 buffer compressed"));

  EtlWriter nobodys;
  nobodys.Add({.records = {RecordOf(make.Allocate(10, 0x1000, 30), EtlHeader::kPerformance)}});
  EXPECT_EQ(GapsOf(nobodys.bytes), "1 event of heaps without a process");

  EtlWriter broken;
  broken.Add({.records = {RecordOf(make.Allocate(10, 0x1000, 30)), EtlBytes(8, std::byte{1})}});
  EXPECT_EQ(GapsOf(broken.bytes), "1 buffer broken");

  EtlBytes cut = MergedBuffers().bytes;
  cut.resize(cut.size() - EtlWriter::kBufferBytes);
  EXPECT_EQ(GapsOf(cut), "1 buffer missing at the end");
  cut.resize(cut.size() - EtlWriter::kBufferBytes + 80);
  EXPECT_EQ(GapsOf(cut), "2 buffers missing at the end, 1 buffer broken");

  EtlBytes followed = MergedBuffers().bytes;
  followed.resize(followed.size() + EtlWriter::kBufferBytes);
  EXPECT_EQ(GapsOf(followed), "1 buffer of an unknown kind, where reading ended");
}

TEST(ReadEtlTest, NamesHeapSnapshotsOfWprAsUnread) {
  EtlBytes record;
  test::AppendNumber(record, 80, 2);
  test::AppendNumber(record, 19, 1);
  test::AppendNumber(record, 0xc0, 1);
  record.resize(24);
  for (const unsigned byte : {0xfaU, 0x2aU, 0x1dU, 0x90U, 0xf6U, 0x4fU, 0xd7U, 0x46U, 0x8dU, 0x0eU,
                              0x53U, 0x64U, 0x5eU, 0x1aU, 0x47U, 0xf5U}) {
    test::AppendNumber(record, byte, 1);
  }
  record.resize(80);
  EtlWriter file;
  file.Add({.records = {record}});

  EXPECT_THAT(GapsOf(file.bytes), HasSubstr("1 event of wpr's heap snapshots"));
}

TEST(ReadEtlTest, WhatWasThereBeforeTheRecordingIsNoLoss) {
  const EventMaker make(kProgram);
  EtlWriter file;
  file.Add({.records = {RecordOf(make.Free(10, 0x9000)), RecordOf(make.Allocate(11, 0x1000, 8))}});

  const EtlHeaps heaps = ReadEtlHeaps(BytesOf(file.bytes), 0).value();

  EXPECT_EQ(heaps.processes[0].losses.unknown_blocks, 1u);
  EXPECT_TRUE(IsWhole(heaps.processes[0], heaps.gaps));
}

TEST(ReadEtlTest, JoinsAStackOfTheSameTimeFromAnotherProcessor) {
  const EventMaker make(kProgram);
  test::MadeEvent stack = make.Stack(10, {0x400010});
  stack.event.time = 10;
  EtlWriter file;
  file.Add({.records = {RecordOf(stack)}});
  file.Add({.records = {RecordOf(make.Allocate(10, 0x1000, 30))}});

  const EtlHeaps heaps = ReadEtlHeaps(BytesOf(file.bytes), 0).value();

  EXPECT_EQ(heaps.processes[0].losses.blocks_without_stack, 0u);
}

TEST(ReadEtlTest, MergesManyBuffersThatOverlap) {
  const EventMaker make(kProgram);
  EtlWriter file;
  constexpr std::uint64_t kBuffers = 20;
  for (std::uint64_t buffer = kBuffers; buffer > 0; --buffer) {
    std::vector<EtlBytes> records;
    for (std::uint64_t at = 0; at < 20; ++at) {
      records.push_back(RecordOf(make.Allocate(100 * at + buffer, 0x1000 * buffer + 16 * at, 1)));
    }
    file.Add({.records = records});
  }
  std::uint64_t last = 0;
  std::size_t count = 0;
  const auto gaps = ReadEtl(BytesOf(file.bytes), [&](const EtlRecord& record) {
    EXPECT_GE(record.event.time, last);
    last = record.event.time;
    ++count;
  });
  EXPECT_EQ(count, 400u);
  EXPECT_EQ(gaps.value(), EtlGaps());
}

TEST(ReadEtlTest, TwoProcessesOfOnePidAreNoWhole) {
  const EventMaker make(kProgram);
  EtlBytes payload(8);
  test::AppendNumber(payload, kProgram, 4);
  const EtlBytes start =
      RecordOf(TraceEvent{.opcode = 1, .time = 5, .payload = payload}, 3, EtlHeader::kWhole);
  for (const bool is_before : {true, false}) {
    EtlWriter file;
    const EtlBytes allocation = RecordOf(make.Allocate(is_before ? 10 : 4, 0x1000, 30));
    file.Add(
        {.records = is_before ? std::vector{start, allocation} : std::vector{allocation, start}});

    const EtlHeaps heaps = ReadEtlHeaps(BytesOf(file.bytes), 0).value();

    EXPECT_EQ(IsWhole(heaps.processes[0], heaps.gaps), is_before);
  }
}

TEST(ReadEtlTest, RefusesOtherFiles) {
  for (const EtlBytes& bytes : {EtlBytes(), EtlBytes(10), EtlBytes(5000)}) {
    const auto heaps = ReadEtlHeaps(BytesOf(bytes), 0);
    ASSERT_FALSE(heaps);
    EXPECT_EQ(heaps.error().exit_code, ExitCode::kUsage);
  }
}

}  // namespace
}  // namespace leakgate
