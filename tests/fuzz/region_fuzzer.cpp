// A region that the process under test has scribbled on: whatever it wrote, the runner
// reads, judges and copies it, and comes to an end.
//
// An input is a row of writes, each of 13 bytes: where (a table, and how far into it) and
// eight bytes. They are undone before the next input.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <vector>

#include "runner/judge/window_judge.h"
#include "runner/snapshot/file/read_snapshot.h"
#include "runner/snapshot/file/write_snapshot.h"
#include "tests/fuzz/sample_region.h"

namespace {

using namespace leakgate;

// A table of the region, and how many bytes at its beginning hold something.
struct Area {
  std::uint64_t offset;
  std::uint64_t bytes;
};

constexpr std::uint64_t kChunk = region_offset::kChunks;
constexpr Area kAreas[] = {
    {region_offset::kHeader, sizeof(RegionHeader)},
    {region_offset::kHeader + offsetof(RegionHeader, agent_state), 64},  // the counts
    {region_offset::kWindows, 10 * sizeof(WindowRecord)},
    {region_offset::kThreads, 4 * sizeof(ThreadRecord)},
    {region_offset::kShards, 2 * sizeof(CounterShard)},
    {region_offset::kContexts, 16 * sizeof(ContextRecord)},
    {region_offset::kModules, 8 * sizeof(ModuleRecord)},
    {region_offset::kText, 1024},
    {region_offset::kAllowances, 8 * sizeof(AllowanceRecord)},
    {region_offset::kEarlierFrees, 8 * sizeof(EarlierFree)},
    {region_offset::kFreeErrors, 4 * sizeof(FreeError)},
    {region_offset::kOwnRanges, 4 * sizeof(OwnRange)},
    {region_offset::kMappingTotals, sizeof(MappingTotals)},
    {region_offset::kMappings, 16 * sizeof(MappingRecord)},
    {region_offset::kMeasuringWindows, 4 * sizeof(MeasuringWindowRecord)},
    {region_offset::kStacks, 64 * sizeof(StackNode)},
    {region_offset::kDirectory + (0x6000'0000ULL >> kChunkShift) * sizeof(std::uint32_t), 8},
    {region_offset::kDirectory, 4096},
    {kChunk, 0x1000},
    {kChunk + 0x4000, 0x1000},
};

// The whole region, writable, as the process has it. Mapped once: a second one of the size
// of the tables is all that it takes.
std::byte* Writable() {
  static Mapping mapping =
      *Mapping::Map(fuzz::SampleRegion().fd(), 0, region_offset::kChunks + kChunkBytes,
                    MappingAccess::kReadWrite);
  return mapping.data();
}

// Writes, and puts back what was there.
class Scribble {
 public:
  Scribble() = default;
  Scribble(const Scribble&) = delete;
  Scribble& operator=(const Scribble&) = delete;
  ~Scribble() {
    for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) {
      std::memcpy(Writable() + undo->offset, &undo->before, sizeof undo->before);
    }
  }

  void Write(std::uint64_t offset, std::uint64_t value) {
    Undo undo{offset, 0};
    std::memcpy(&undo.before, Writable() + offset, sizeof undo.before);
    undo_.push_back(undo);
    std::memcpy(Writable() + offset, &value, sizeof value);
  }

 private:
  struct Undo {
    std::uint64_t offset;
    std::uint64_t before;
  };
  std::vector<Undo> undo_;
};

constexpr std::size_t kWriteBytes = 13;

void ApplyWrites(std::span<const std::uint8_t> input, Scribble& scribble) {
  for (; input.size() >= kWriteBytes; input = input.subspan(kWriteBytes)) {
    const Area& area = kAreas[input[0] % std::size(kAreas)];
    std::uint32_t at = 0;
    std::uint64_t value = 0;
    std::memcpy(&at, &input[1], sizeof at);
    std::memcpy(&value, &input[5], sizeof value);
    const std::uint64_t room = area.bytes - sizeof value + 1;
    scribble.Write(area.offset + (at % room & ~3ULL), value);
  }
}

// What the runner does with the windows of a program that has gone.
void Judge(RegionFile& file) {
  static const BudgetSet budgets({}, "fuzz");
  static const TestSources sources;
  // Kept: this program's own file, which the region names, takes a second to read.
  static Symbolizer symbolizer([](std::string_view) { return true; });
  static Variables variables;
  const JudgeSurroundings around{.budgets = budgets,
                                 .sources = sources,
                                 .symbolizer = symbolizer,
                                 .variables = variables,
                                 .binary_name = "fuzz"};
  WindowJudge judge(file.reader(), file.pid(), around);
  WindowResults results;
  const std::uint32_t count = std::min(file.reader().WindowCount(), 16U);
  for (std::uint32_t id = 1; id < count; ++id) {
    const WindowCopy window = file.reader().Window(id);
    results.Put(id, judge.Judge(window, {}));
    judge.EndSuite(id, results);
  }
  judge.EndIteration(0, results);
  judge.EndProgram(results);
}

// What is written can be read.
void Copy(const RegionReader& region) {
  static const std::filesystem::path path =
      std::filesystem::path("/dev/shm") / ("leakgate-fuzz-" + std::to_string(::getpid()));
  const auto written = WriteSnapshot(region, {.facts = {}, .thread_name = nullptr}, path);
  if (!written) return;
  std::ifstream in(path, std::ios::binary);
  const auto read = ReadSnapshot(in, path, SnapshotVisitor{});
  if (!read) {
    std::fprintf(stderr, "what was written cannot be read: %s\n", read.error().message.c_str());
    __builtin_trap();
  }
  std::filesystem::remove(path);
}

void ReadTheRest(const RegionReader& region) {
  const auto few = [](std::uint32_t count) { return std::min(count, 64U); };
  for (std::uint32_t id = 0; id < few(region.ThreadCount()); ++id) (void)region.Thread(id);
  for (std::uint32_t id = 0; id < few(region.AllowanceCount()); ++id) (void)region.Allowance(id);
  for (std::uint32_t id = 0; id < few(region.MeasuringWindowCount()); ++id) {
    (void)region.LiveBlocks(region.MeasuringWindow(id));
  }
  (void)region.OwnRanges();
  (void)region.CountStacks();
  (void)region.CopyHeap();
  (void)region.MappedInAll();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  RegionFile& file = fuzz::SampleRegion();
  Scribble scribble;
  ApplyWrites({bytes, std::min(size, 64 * kWriteBytes)}, scribble);
  Judge(file);
  Copy(file.reader());
  ReadTheRest(file.reader());
  return 0;
}
