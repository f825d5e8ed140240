#include "runner/region/region_writer.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "common/live_slot.h"

namespace leakgate {
namespace {

constexpr std::uint32_t kProgramWindow = 1;
constexpr std::uint64_t kGranules = 1ULL << (kChunkShift - kGranuleShift);

std::uint64_t MonotonicNs() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

std::uint8_t DigitOf(char digit) {
  return static_cast<std::uint8_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

}  // namespace

std::size_t RegionWriter::NodeHash::operator()(const Node& node) const {
  const std::uint64_t key = node.pc ^ (std::uint64_t{node.parent} << 32) ^ node.module;
  return static_cast<std::size_t>((key ^ (key >> 32)) * 0x9e37'79b9'7f4a'7c15U);
}

Expected<RegionWriter> RegionWriter::Open(const UniqueFd& region) {
  LEAKGATE_TRY_ASSIGN(Mapping memory,
                      Mapping::Map(region, 0, region_offset::kEvents, MappingAccess::kReadWrite));
  RegionWriter writer(std::move(memory));
  writer.BeginWindow();
  return writer;
}

bool RegionWriter::MakeRoom(std::uint64_t offset, std::size_t bytes) {
  for (std::uint64_t piece = offset / kMappingAlignment; piece * kMappingAlignment < offset + bytes;
       ++piece) {
    if (rooms_.contains(piece)) continue;
    if (!MakeRoomInRegion(At<std::byte>(piece * kMappingAlignment), kMappingAlignment)) {
      return false;
    }
    rooms_.insert(piece);
  }
  return true;
}

// The first piece of each table is there.
void RegionWriter::BeginWindow() {
  auto& window = At<WindowRecord>(region_offset::kWindows)[kProgramWindow];
  window.kind = static_cast<std::uint32_t>(WindowKind::kProgram);
  window.iteration = 1;
  window.begin_time_ns = MonotonicNs();
  window.state.store(static_cast<std::uint32_t>(WindowState::kOpen), std::memory_order_release);
  RegionHeader& header = Header();
  header.window_count.store(kProgramWindow + 1, std::memory_order_release);
  header.current_window.store(kProgramWindow, std::memory_order_release);
  for (auto* const count : {&header.thread_count, &header.module_count, &header.context_count,
                            &header.allowance_count, &header.measuring_window_count}) {
    count->store(1, std::memory_order_release);
  }
  header.shard_count.store(1, std::memory_order_release);
  header.stack_node_count.store(kStackRootCount, std::memory_order_release);
  header.agent_state.store(static_cast<std::uint32_t>(AgentState::kTracing),
                           std::memory_order_release);
}

std::uint32_t RegionWriter::AddModule(const Module& module) {
  RegionHeader& header = Header();
  const std::uint32_t id = header.module_count.load(std::memory_order_relaxed);
  const std::uint32_t text = header.text_bytes.load(std::memory_order_relaxed);
  const std::uint64_t offset = region_offset::kModules + id * sizeof(ModuleRecord);
  const std::size_t length = module.path.size();
  if (id >= kMaxModules || length > kMaxTextBytes - text ||
      !MakeRoom(offset, sizeof(ModuleRecord)) || !MakeRoom(region_offset::kText + text, length)) {
    return 0;
  }
  std::memcpy(At<char>(region_offset::kText + text), module.path.data(), length);
  header.text_bytes.store(text + static_cast<std::uint32_t>(length), std::memory_order_release);
  auto& record = *At<ModuleRecord>(offset);
  record = {.begin = module.begin,
            .end = module.end,
            .bias = module.bias,
            .path = {text, static_cast<std::uint32_t>(length)},
            .build_id_length = 0,
            .build_id = {}};
  const std::size_t digits = std::min(module.build_id.size(), 2 * sizeof(record.build_id));
  record.build_id_length = static_cast<std::uint32_t>(digits / 2);
  for (std::size_t i = 0; i < record.build_id_length; ++i) {
    record.build_id[i] = static_cast<std::uint8_t>(DigitOf(module.build_id[2 * i]) << 4 |
                                                   DigitOf(module.build_id[2 * i + 1]));
  }
  header.module_count.store(id + 1, std::memory_order_release);
  return id;
}

std::uint32_t RegionWriter::AddContext(int tid) {
  const auto known = contexts_.find(tid);
  if (known != contexts_.end()) return known->second;
  RegionHeader& header = Header();
  const std::uint32_t thread = header.thread_count.load(std::memory_order_relaxed);
  const std::uint32_t context = header.context_count.load(std::memory_order_relaxed);
  const std::uint64_t thread_offset = region_offset::kThreads + thread * sizeof(ThreadRecord);
  const std::uint64_t offset = region_offset::kContexts + context * sizeof(ContextRecord);
  if (thread >= kMaxThreads || context >= kMaxContexts ||
      !MakeRoom(thread_offset, sizeof(ThreadRecord)) || !MakeRoom(offset, sizeof(ContextRecord))) {
    Drop(DropReason::kContextTableFull);
    return 0;
  }
  auto& thread_record = *At<ThreadRecord>(thread_offset);
  auto& record = *At<ContextRecord>(offset);
  thread_record.birth_window = kProgramWindow;
  std::atomic_ref(thread_record.tid).store(tid, std::memory_order_release);
  header.thread_count.store(thread + 1, std::memory_order_release);
  record.thread = static_cast<std::uint16_t>(thread);
  std::atomic_ref(record.window).store(kProgramWindow, std::memory_order_release);
  header.context_count.store(context + 1, std::memory_order_release);
  contexts_.emplace(tid, context);
  return context;
}

std::uint32_t RegionWriter::AddStack(std::span<const RawStack::Frame> frames, UnwindEnd end) {
  auto at = static_cast<std::uint32_t>(end);
  bool is_new = false;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    const Node node{frame->pc, at, frame->module};
    const auto known = nodes_.find(node);
    is_new = known == nodes_.end();
    const std::uint32_t added = is_new ? AddNode(node) : known->second;
    if (added == 0) {
      end = UnwindEnd::kTableFull;
      break;
    }
    at = added;
  }
  if (is_new) {
    Header().stack_ends[static_cast<std::uint32_t>(end)].fetch_add(1, std::memory_order_relaxed);
  }
  return at;
}

std::uint32_t RegionWriter::AddNode(const Node& node) {
  std::atomic<std::uint32_t>& count = Header().stack_node_count;
  const std::uint32_t id = count.load(std::memory_order_relaxed);
  const std::uint64_t offset = region_offset::kStacks + id * sizeof(StackNode);
  if (id >= kMaxStackNodes || !MakeRoom(offset, sizeof(StackNode))) return 0;
  *At<StackNode>(offset) = {.pc = node.pc,
                            .parent = node.parent,
                            .module = node.module,
                            .newest_child = 0,
                            .older_sibling = 0};
  count.store(id + 1, std::memory_order_release);
  nodes_.emplace(node, id);
  return id;
}

std::uint64_t RegionWriter::FindSlot(std::uint64_t address) const {
  if (address >> kAddressBits != 0 || !HasRoom(EntryOf(address))) return 0;
  const std::uint32_t chunk = At<Word>(EntryOf(address))->load(std::memory_order_relaxed);
  if (chunk == 0) return 0;
  const std::uint64_t granule = (address >> kGranuleShift) & (kGranules - 1);
  return region_offset::kChunks + (chunk - 1) * kChunkBytes +
         granule * kWordsPerGranule * sizeof(Word);
}

std::uint64_t RegionWriter::MakeSlot(std::uint64_t address) {
  if (address >> kAddressBits != 0) {
    Drop(DropReason::kAddressRange);
    return 0;
  }
  if (address % (1U << kGranuleShift) != 0) {
    Drop(DropReason::kUnaligned);
    return 0;
  }
  if (const std::uint64_t slot = FindSlot(address)) return slot;
  if (AddChunk(address)) return FindSlot(address);
  Drop(DropReason::kMapFull);
  return 0;
}

bool RegionWriter::AddChunk(std::uint64_t address) {
  std::atomic<std::uint32_t>& count = Header().chunk_count;
  const std::uint32_t number = count.load(std::memory_order_relaxed);
  const std::uint64_t offset = region_offset::kChunks + number * kChunkBytes;
  if (number >= kMaxChunks || !MakeRoom(EntryOf(address), sizeof(Word)) ||
      !MakeRoomInRegion(At<std::byte>(offset), kChunkBytes)) {
    return false;
  }
  NoteTouched(EntryOf(address));
  // Release: whoever reads the entry finds the chunk counted.
  count.store(number + 1, std::memory_order_release);
  At<Word>(EntryOf(address))->store(number + 1, std::memory_order_release);
  return true;
}

void RegionWriter::AddBlock(const Block& block) {
  if (block.context == 0) return;  // it has been counted
  if (block.size_bytes >> (2 * kSizeWordBits) != 0) return Drop(DropReason::kAddressRange);
  const std::uint64_t offset = MakeSlot(block.address);
  if (offset == 0) return;
  Word* const words = At<Word>(offset);
  NoteTouched(offset);
  auto short_size = static_cast<std::uint32_t>(block.size_bytes);
  if (block.size_bytes >= kSizeFollows) {
    NoteTouched(offset + 3 * sizeof(Word));
    words[2].store(block.size_bytes & kSizeWordMask, std::memory_order_release);
    words[3].store((block.size_bytes >> kSizeWordBits) & kSizeWordMask, std::memory_order_release);
    short_size = kSizeFollows;
  }
  words[1].store(Encode(LiveRest{short_size, block.context}), std::memory_order_release);
  words[0].store(Encode(LiveStart{block.stack, block.kind}), std::memory_order_release);
  At<WindowRecord>(region_offset::kWindows)[kProgramWindow].live_blocks.fetch_add(
      1, std::memory_order_release);
}

void RegionWriter::RemoveBlock(std::uint64_t address) {
  const std::uint64_t offset = FindSlot(address);
  Word* const words = At<Word>(offset);
  if (offset == 0 || !IsLiveStart(words[0].load(std::memory_order_relaxed))) return;
  words[0].store(0, std::memory_order_release);
  At<WindowRecord>(region_offset::kWindows)[kProgramWindow].live_blocks.fetch_sub(
      1, std::memory_order_release);
}

void RegionWriter::SetTotals(const Amount& allocated, const Amount& freed,
                             std::uint64_t peak_bytes) {
  auto& shard = At<CounterShard>(region_offset::kShards)[0];
  const auto set = [](Tally& tally, const Amount& amount) {
    tally.bytes.store(static_cast<std::uint64_t>(amount.bytes), std::memory_order_release);
    tally.blocks.store(static_cast<std::uint64_t>(amount.blocks), std::memory_order_release);
  };
  set(shard.allocated, allocated);
  set(shard.freed_else, freed);
  At<WindowRecord>(region_offset::kWindows)[kProgramWindow].peak_live_bytes.store(
      peak_bytes, std::memory_order_relaxed);
}

void RegionWriter::SetEnd(ProgramEnd end) {
  Header().program_end.store(static_cast<std::uint32_t>(end), std::memory_order_release);
}

void RegionWriter::Drop(DropReason reason) const {
  Header().drops[static_cast<std::uint32_t>(reason)].fetch_add(1, std::memory_order_relaxed);
}

void RegionWriter::NoteTouched(std::uint64_t offset) const {
  if (!kNotesTouchedPages) return;
  const std::uint64_t page = (offset - region_offset::kDirectory) / kMappingAlignment;
  At<std::atomic<std::uint8_t>>(region_offset::kTouched)[page].store(1, std::memory_order_release);
}

}  // namespace leakgate
