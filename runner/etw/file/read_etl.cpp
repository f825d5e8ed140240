#include "runner/etw/file/read_etl.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/etw/trace_losses.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kMostBytesAtOnce = std::uint64_t{1} << 30;
constexpr std::size_t kMostBuffers = std::size_t{1} << 22;

Unexpected NoEtl() {
  return UsageError("not a trace of Windows; name an .etl file, as wpr -stop writes it");
}

Unexpected TooLarge() {
  return UsageError(
      "its buffers would take more than 1 GiB of memory at once; record with smaller buffers");
}

// A buffer that is being read.
class OpenBuffer {
 public:
  OpenBuffer(const EtlBuffer& buffer, const ReadEtlBytes& read, EtlGaps& gaps)
      : bytes_(buffer.used) {
    bytes_.resize(read(bytes_.data(), bytes_.size(), buffer.offset));
    gaps.missing_buffers += bytes_.size() < buffer.used;
    reader_ = EtlRecordReader(bytes_);
  }
  OpenBuffer(const OpenBuffer&) = delete;
  OpenBuffer& operator=(const OpenBuffer&) = delete;

  // Goes to the next record that is asked for. Returns false at the end.
  bool Advance(EtlGaps& gaps) {
    while (const std::optional<EtlRecord> record = reader_.Next()) {
      if (record->group == EtlGroup::kOther) continue;
      record_ = *record;
      return true;
    }
    gaps.broken_buffers += reader_.is_broken();
    return false;
  }
  const EtlRecord& record() const { return record_; }
  std::size_t bytes() const { return bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
  EtlRecordReader reader_{{}};
  EtlRecord record_;
};

// A buffer, by the time of its first event.
struct TimedBuffer {
  std::uint64_t first_time = 0;
  EtlBuffer buffer;
};

// Nothing if the buffer has no event of a known layout in its first `bytes`.
std::optional<std::uint64_t> FirstTimeIn(const EtlBuffer& buffer, const ReadEtlBytes& read,
                                         std::size_t bytes) {
  std::vector<std::byte> begin(std::min<std::size_t>(bytes, buffer.used));
  begin.resize(read(begin.data(), begin.size(), buffer.offset));
  EtlRecordReader reader(begin);
  while (const std::optional<EtlRecord> record = reader.Next()) {
    if (record->has_time) return record->event.time;
  }
  return std::nullopt;
}

// What the whole file consists of.
struct EtlIndex {
  std::vector<TimedBuffer> buffers;  // that are read
  std::uint64_t count = 0;           // of all
  std::uint64_t loss_marks = 0;
};

void AddBuffer(const EtlBuffer& buffer, const ReadEtlBytes& read, EtlIndex& index, EtlGaps& gaps) {
  constexpr std::size_t kUsualFirstRecord = 512;
  index.loss_marks += buffer.has_lost_events + std::uint64_t{buffer.has_lost_buffers};
  if (buffer.is_compressed) {
    ++gaps.compressed_buffers;
    return;
  }
  std::optional<std::uint64_t> time = FirstTimeIn(buffer, read, kUsualFirstRecord);
  if (!time) time = FirstTimeIn(buffer, read, buffer.used);
  index.buffers.push_back({time.value_or(0), buffer});  // without a time, it has nothing to merge
}

Expected<EtlIndex> IndexBuffers(const ReadEtlBytes& read, EtlGaps& gaps) {
  EtlIndex index;
  std::array<std::byte, kEtlHeaderBytes> header{};
  for (std::uint64_t offset = 0;;) {
    const std::size_t got = read(header.data(), header.size(), offset);
    if (got < header.size()) {
      if (got != 0) {
        ++index.count;
        ++gaps.missing_buffers;
      }
      break;
    }
    const std::optional<EtlBuffer> buffer = ReadEtlBuffer(header, offset);
    if (!buffer) {
      if (index.count == 0) return NoEtl();
      ++gaps.unread_buffers;  // and all that follow it
      break;
    }
    if (++index.count > kMostBuffers) return TooLarge();
    AddBuffer(*buffer, read, index, gaps);
    offset += buffer->size;
  }
  if (index.buffers.empty() && gaps.compressed_buffers == 0) return NoEtl();
  std::ranges::stable_sort(index.buffers, {}, &TimedBuffer::first_time);
  return index;
}

// Merges the records of buffers by their times.
class BufferMerge {
 public:
  BufferMerge(const std::vector<TimedBuffer>& buffers, const ReadEtlBytes& read, EtlGaps& gaps)
      : buffers_(buffers), read_(read), gaps_(gaps) {}

  // Returns the next record, which is valid until the next call; null at the end, or if the buffers
  // take too much memory.
  const EtlRecord* Next() {
    if (current_) Push(std::move(current_));
    while (next_ < buffers_.size() &&
           (heads_.empty() || buffers_[next_].first_time <= heads_.front()->record().event.time)) {
      auto opened = std::make_unique<OpenBuffer>(buffers_[next_++].buffer, read_, gaps_);
      bytes_ += opened->bytes();
      if (is_too_large()) return nullptr;
      Push(std::move(opened));
    }
    if (heads_.empty()) return nullptr;
    std::ranges::pop_heap(heads_, IsLater);
    current_ = std::move(heads_.back());
    heads_.pop_back();
    return &current_->record();
  }
  bool is_too_large() const { return bytes_ > kMostBytesAtOnce; }

 private:
  using Head = std::unique_ptr<OpenBuffer>;

  // Of one time, a stack comes after what it is of.
  static bool IsLater(const Head& a, const Head& b) {
    const auto key = [](const Head& head) {
      const EtlRecord& record = head->record();
      return std::pair(record.event.time, record.group == EtlGroup::kStack);
    };
    return key(a) > key(b);
  }
  void Push(Head head) {
    if (!head->Advance(gaps_)) {
      bytes_ -= head->bytes();
      return;
    }
    heads_.push_back(std::move(head));
    std::ranges::push_heap(heads_, IsLater);
  }

  const std::vector<TimedBuffer>& buffers_;
  const ReadEtlBytes& read_;
  EtlGaps& gaps_;
  std::size_t next_ = 0;
  std::uint64_t bytes_ = 0;
  Head current_;
  std::vector<Head> heads_;  // the next record of each, the earliest first, as a heap
};

void AddFacts(const EtlFileFacts& facts, const EtlIndex& index, EtlGaps& gaps) {
  gaps.lost_events += facts.lost_events;
  gaps.lost_buffers += facts.lost_buffers;
  if (facts.buffers > index.count) gaps.missing_buffers += facts.buffers - index.count;
}

// Counts a record that cannot be used. Returns whether it can.
bool IsUsable(const EtlRecord& record, EtlGaps& gaps) {
  if (record.group == EtlGroup::kHeapSnapshot) {
    ++gaps.heap_snapshots;
    return false;
  }
  if (record.group == EtlGroup::kHeap && !record.has_process) {
    ++gaps.events_of_nobody;
    return false;
  }
  return true;
}

}  // namespace

std::string DescribeGaps(const EtlGaps& gaps) {
  const LossReason reasons[] = {
      {gaps.lost_events, "event", "lost"},
      {gaps.lost_buffers, "buffer", "lost"},
      {gaps.missing_buffers, "buffer", "missing at the end"},
      {gaps.unread_buffers, "buffer", "of an unknown kind, where reading ended"},
      {gaps.compressed_buffers, "buffer", "compressed in a way that is not public"},
      {gaps.broken_buffers, "buffer", "broken"},
      {gaps.heap_snapshots, "event", "of wpr's heap snapshots, whose layout is not public"},
      {gaps.events_of_nobody, "event", "of heaps without a process"}};
  return DescribeReasons(reasons);
}

Expected<EtlGaps> ReadEtl(const ReadEtlBytes& read,
                          const std::function<void(const EtlRecord&)>& take) {
  EtlGaps gaps;
  LEAKGATE_TRY_ASSIGN(const EtlIndex index, IndexBuffers(read, gaps));
  BufferMerge merge(index.buffers, read, gaps);
  bool has_facts = false;
  while (const EtlRecord* const record = merge.Next()) {
    if (record->group == EtlGroup::kFile) {
      const std::optional<EtlFileFacts> facts = ReadEtlFileFacts(record->event);
      if (facts && !std::exchange(has_facts, true)) AddFacts(*facts, index, gaps);
    } else if (IsUsable(*record, gaps)) {
      take(*record);
    }
  }
  if (merge.is_too_large()) return TooLarge();
  // Each buffer that was written after a loss has a mark, which the file's own count has, too.
  if (gaps.lost_events == 0 && gaps.lost_buffers == 0) gaps.lost_events = index.loss_marks;
  return gaps;
}

}  // namespace leakgate
