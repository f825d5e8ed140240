#include "runner/recording/file/event_columns.h"

namespace leakgate::recording_format {

using snapshot_format::ByteReader;
using snapshot_format::ByteWriter;

namespace {

constexpr std::uint32_t kGranuleBytes = 16;

bool IsAllocation(std::uint8_t op) { return op < static_cast<std::uint8_t>(EventOp::kFree); }

}  // namespace

void SegmentWriter::Address(std::uint64_t address) {
  const std::uint64_t granule = address / kGranuleBytes;
  const std::uint64_t before = guesses_.last_granule();
  const std::uint32_t distance = guesses_.TakeDistance(granule);
  if (distance != 0) return addresses_.Number(std::uint64_t{distance} * 2);
  const std::uint64_t step = snapshot_format::ZigZag(static_cast<std::int64_t>(granule - before));
  addresses_.Number(step * 2 + 1);
}

void SegmentWriter::Stack(std::uint32_t stack) {
  stacks_.Number(stack == guesses_.LikelyStack() ? 0 : std::uint64_t{stack} + 1);
  guesses_.FollowWith(stack);
}

void SegmentWriter::Allocate(std::uint64_t delta, std::uint64_t address, std::uint64_t bytes,
                             std::uint32_t stack, AllocationKind kind) {
  Begin(delta, static_cast<std::uint8_t>(kind));
  Address(address);
  Stack(stack);
  std::uint64_t& likely = guesses_.SizeOf(stack);
  sizes_.Number(bytes == likely ? 0 : bytes + 1);
  likely = bytes;
}

void SegmentWriter::Free(std::uint64_t delta, std::uint64_t address) {
  Begin(delta, static_cast<std::uint8_t>(EventOp::kFree));
  Address(address);
}

void SegmentWriter::FreeByStack(std::uint64_t delta, std::uint64_t address, std::uint32_t stack) {
  Begin(delta, static_cast<std::uint8_t>(EventOp::kFreeByStack));
  Address(address);
  Stack(stack);
}

void SegmentWriter::Window(std::uint64_t delta, std::uint32_t window) {
  Begin(delta, static_cast<std::uint8_t>(EventOp::kWindow));
  others_.Number(window);
}

void SegmentWriter::Other(std::uint64_t delta, const RecordedEvent& event) {
  const auto kind = static_cast<std::uint8_t>(event.kind);
  Begin(delta, static_cast<std::uint8_t>(static_cast<std::uint8_t>(EventOp::kOther) + kind));
  others_.Number(event.address);
  others_.Number(event.size_bytes);
  others_.Number(event.stack);
  others_.Number(event.window);
  others_.Number(event.mark);
  others_.Number(static_cast<std::uint64_t>(event.allocation_kind));
}

void SegmentWriter::Take(ByteWriter& out) {
  for (ByteWriter* const column : {&ops_, &times_, &addresses_, &stacks_, &sizes_, &others_}) {
    out.Text(column->bytes());
    column->Clear();
  }
  guesses_ = {};
  count_ = 0;
}

// The order of the members is that of the columns.
SegmentReader::SegmentReader(ByteReader& in, std::uint32_t count, std::uint64_t begin_time,
                             std::uint32_t thread, std::uint32_t window)
    : ops_(in.Text()),
      times_(in.Text()),
      addresses_(in.Text()),
      stacks_(in.Text()),
      sizes_(in.Text()),
      others_(in.Text()),
      left_(count),
      time_(begin_time),
      thread_(thread),
      window_(window) {
  if (!in.is_good() || ops_.size() != count) {
    is_good_ = false;
    left_ = 0;
  }
  ReadTime();
}

std::uint64_t SegmentReader::Address() {
  const std::uint64_t told = addresses_.Number();
  std::uint64_t granule = 0;
  if (told % 2 == 0) {
    if (told == 0 || told / 2 > kRecentEvents) is_good_ = false;
    granule = guesses_.GranuleBefore(static_cast<std::uint32_t>(told / 2 % (kRecentEvents + 1)));
  } else {
    granule =
        guesses_.last_granule() + static_cast<std::uint64_t>(snapshot_format::UnZigZag(told / 2));
  }
  guesses_.Remember(granule);
  return granule * kGranuleBytes;
}

std::uint32_t SegmentReader::Stack() {
  const std::uint64_t told = stacks_.Number();
  if (told > UINT32_MAX) is_good_ = false;
  const std::uint32_t stack =
      told == 0 ? guesses_.LikelyStack() : static_cast<std::uint32_t>(told - 1);
  guesses_.FollowWith(stack);
  return stack;
}

void SegmentReader::Next(RecordedEvent& event) {
  const auto op = static_cast<std::uint8_t>(ops_[at_++]);
  --left_;
  event.thread = thread_;
  event.window = window_;
  event.stack = 0;
  event.size_bytes = 0;
  if (IsAllocation(op)) {
    event.kind = RecordedKind::kAllocate;
    event.allocation_kind = static_cast<AllocationKind>(op);
    event.address = Address();
    event.stack = Stack();
    const std::uint64_t told = sizes_.Number();
    std::uint64_t& likely = guesses_.SizeOf(event.stack);
    if (told != 0) likely = told - 1;
    event.size_bytes = likely;
  } else if (op == static_cast<std::uint8_t>(EventOp::kFree)) {
    event.kind = RecordedKind::kFree;
    event.address = Address();
  } else if (op == static_cast<std::uint8_t>(EventOp::kFreeByStack)) {
    event.kind = RecordedKind::kFree;
    event.address = Address();
    event.stack = Stack();
  } else if (op == static_cast<std::uint8_t>(EventOp::kWindow)) {
    window_ = others_.Number32();
    event.kind = RecordedKind::kWindowChanges;
    event.window = window_;
  } else {
    const unsigned kind = op - static_cast<unsigned>(EventOp::kOther);
    if (op < static_cast<std::uint8_t>(EventOp::kOther) || kind >= kRecordedKinds) {
      is_good_ = false;
    }
    event.kind = static_cast<RecordedKind>(kind);
    event.address = others_.Number();
    event.size_bytes = others_.Number();
    event.stack = others_.Number32();
    event.window = others_.Number32();
    event.mark = others_.Number32();
    event.allocation_kind = static_cast<AllocationKind>(others_.Number32());
  }
  ReadTime();
}

}  // namespace leakgate::recording_format
