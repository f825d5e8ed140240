// Any words in the buffers of a recording, as a process may write there: the recorder's file can be
// read, and has no more events than there are words.
//
// The first byte of an input says how long the first buffer is, and which thread's; then come
// words. The tables of the region are such as no agent makes: stacks and windows in circles and
// chains.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "runner/recording/event_recorder.h"
#include "runner/recording/file/read_recording.h"
#include "runner/region/region_file.h"

namespace {

using namespace leakgate;

constexpr std::uint32_t kBufferBytes = 4096;
constexpr std::uint32_t kBuffers = 16;
constexpr std::uint32_t kNodes = 300;
constexpr std::uint32_t kWindows = 300;

template <typename Record>
Record* At(std::byte* region, std::uint64_t offset) {
  return reinterpret_cast<Record*>(region + offset);
}

void ForgeTables(std::byte* tables) {
  auto& header = *At<RegionHeader>(tables, region_offset::kHeader);
  header.stack_node_count.store(kStackRootCount + kNodes);
  header.window_count.store(kWindows);
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    auto& node = At<StackNode>(tables, region_offset::kStacks)[kStackRootCount + i];
    node.pc = 0x1000 + i;
    node.parent = kStackRootCount + (i % 3 == 0 ? i ^ 1 : i + i % 5);
  }
  for (std::uint32_t i = 1; i < kWindows; ++i) {
    auto& window = At<WindowRecord>(tables, region_offset::kWindows)[i];
    window.parent = i - i % 3;
    window.name = {i, i * 7 % 300};
  }
}

// One for the whole process.
struct Shared {
  std::unique_ptr<RegionFile> region = *RegionFile::Create(
      {.pid = ::getpid(), .events = {.buffer_bytes = kBufferBytes, .buffer_count = kBuffers}});
  Mapping tables =
      *Mapping::Map(region->fd(), 0, region_offset::kEventControl, MappingAccess::kReadWrite);
  Mapping control = *Mapping::Map(region->fd(), region_offset::kEventControl,
                                  region_offset::kDirectory - region_offset::kEventControl,
                                  MappingAccess::kReadWrite);
  Mapping memory = *Mapping::Map(region->fd(), region_offset::kEvents, kMaxEventBytes,
                                 MappingAccess::kReadWrite);
  std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("leakgate-fuzz-" + std::to_string(::getpid()));

  Shared() { ForgeTables(tables.data()); }
  ~Shared() { std::filesystem::remove(file); }
};

void Fill(Shared& shared, const std::uint8_t* bytes, std::size_t size) {
  auto* const records = reinterpret_cast<EventBuffer*>(
      shared.control.data() + (region_offset::kEventBuffers - region_offset::kEventControl));
  for (std::uint32_t i = 0; i < kBuffers && size != 0; ++i) {
    const std::size_t used = std::min<std::size_t>(size, i == 0 ? bytes[0] * 16U : kBufferBytes);
    std::memcpy(shared.memory.data() + i * kBufferBytes, bytes, used);
    records[i].thread = static_cast<std::uint32_t>(bytes[0] % 3);
    records[i].begin_time = 1;
    records[i].context = 0;
    records[i].lost_events = 0;
    records[i].used_bytes.store(static_cast<std::uint32_t>(used));
    std::atomic_ref(records[i].sequence).store(i + 1);
    records[i].state.store(static_cast<std::uint32_t>(EventBufferState::kFull));
    bytes += used;
    size -= used;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static Shared shared;
  Fill(shared, bytes, size);
  RecorderSetup setup;
  setup.path = shared.file;
  setup.existing = AtomicFile::Existing::kReplaced;
  auto buffers = EventBuffers::Attach(shared.region->fd());
  if (!buffers) __builtin_trap();
  auto recorder = EventRecorder::Start(shared.region->reader(), *std::move(buffers), setup);
  if (!recorder || !(*recorder)->Finish()) __builtin_trap();
  std::uint64_t events = 0;
  RecordingVisitor visitor;
  visitor.events = [&](std::span<const RecordedEvent> some) {
    events += some.size();
    return Expected<void>();
  };
  const Expected<void> read = ReadRecording(shared.file, visitor);
  if (!read || events > size / sizeof(std::uint64_t) + kBuffers) __builtin_trap();
  return 0;
}
