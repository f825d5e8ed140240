#include "runner/etw/file/read_etl.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <queue>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

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

// The buffers of one processor in one session, in their order, and the one that is being read.
class Stream {
 public:
  void Add(const EtlBuffer& buffer) { buffers_.push_back(buffer); }

  std::uint64_t MostBytes() const { return std::ranges::max(buffers_, {}, &EtlBuffer::used).used; }
  void Sort() {
    std::ranges::sort(buffers_, {},
                      [](const EtlBuffer& it) { return std::pair(it.sequence, it.offset); });
  }

  // Goes to the next record that is asked for. Returns false at the end.
  bool Advance(const ReadEtlBytes& read, EtlGaps& gaps) {
    for (;;) {
      while (const std::optional<EtlRecord> record = reader_.Next()) {
        if (record->group == EtlGroup::kOther) continue;
        record_ = *record;
        return true;
      }
      gaps.broken_buffers += reader_.is_broken();
      if (next_ == buffers_.size()) return false;
      const EtlBuffer& buffer = buffers_[next_++];
      bytes_.resize(buffer.used);
      bytes_.resize(read(bytes_.data(), bytes_.size(), buffer.offset));
      gaps.missing_buffers += bytes_.size() < buffer.used;
      reader_ = EtlRecordReader(bytes_);
    }
  }
  const EtlRecord& record() const { return record_; }

 private:
  std::vector<EtlBuffer> buffers_;
  std::size_t next_ = 0;
  std::vector<std::byte> bytes_;
  EtlRecordReader reader_{{}};
  EtlRecord record_;
};

using Streams = std::map<std::pair<std::uint16_t, std::uint16_t>, Stream>;

// What the whole file consists of.
struct EtlIndex {
  Streams streams;
  std::uint64_t buffers = 0;
  std::uint64_t loss_marks = 0;
};

Expected<EtlIndex> IndexBuffers(const ReadEtlBytes& read, EtlGaps& gaps) {
  EtlIndex index;
  std::array<std::byte, kEtlHeaderBytes> header{};
  for (std::uint64_t offset = 0;;) {
    const std::size_t got = read(header.data(), header.size(), offset);
    if (got < header.size()) {
      gaps.missing_buffers += got != 0;
      return index;
    }
    const std::optional<EtlBuffer> buffer = ReadEtlBuffer(header, offset);
    if (!buffer) {
      if (index.buffers == 0) return NoEtl();
      ++gaps.unread_buffers;  // and all that follow it
      return index;
    }
    if (++index.buffers > kMostBuffers) return TooLarge();
    index.loss_marks += buffer->has_lost_events + std::uint64_t{buffer->has_lost_buffers};
    if (buffer->is_compressed) {
      ++gaps.compressed_buffers;
    } else {
      index.streams[{buffer->logger, buffer->processor}].Add(*buffer);
    }
    offset += buffer->size;
  }
}

void AddFacts(const EtlFileFacts& facts, const EtlIndex& index, EtlGaps& gaps) {
  gaps.lost_events += facts.lost_events;
  gaps.lost_buffers += facts.lost_buffers;
  if (facts.buffers > index.buffers) {
    gaps.missing_buffers =
        std::max<std::uint64_t>(gaps.missing_buffers, facts.buffers - index.buffers);
  }
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
  struct Reason {
    std::uint64_t count;
    std::string_view noun;
    std::string_view text;
  };
  const Reason reasons[] = {
      {gaps.lost_events, "event", "lost"},
      {gaps.lost_buffers, "buffer", "lost"},
      {gaps.missing_buffers, "buffer", "missing at the end"},
      {gaps.unread_buffers, "buffer", "of an unknown kind, where reading ended"},
      {gaps.compressed_buffers, "buffer", "compressed in a way that is not public"},
      {gaps.broken_buffers, "buffer", "broken"},
      {gaps.heap_snapshots, "event", "of wpr's heap snapshots, whose layout is not public"},
      {gaps.events_of_nobody, "event", "of heaps without a process"}};
  std::string line;
  for (const Reason& reason : reasons) {
    if (reason.count == 0) continue;
    line += fmt::format("{}{} {}{} {}", line.empty() ? "" : ", ", reason.count, reason.noun,
                        reason.count == 1 ? "" : "s", reason.text);
  }
  return line;
}

Expected<EtlGaps> ReadEtl(const ReadEtlBytes& read,
                          const std::function<void(const EtlRecord&)>& take) {
  EtlGaps gaps;
  LEAKGATE_TRY_ASSIGN(EtlIndex index, IndexBuffers(read, gaps));
  if (index.buffers == 0) return NoEtl();
  std::uint64_t bytes_at_once = 0;
  // Of one time, a stack comes after what it is of.
  using Head = std::tuple<std::uint64_t, bool, Stream*>;
  const auto is_later = [](const Head& a, const Head& b) {
    return std::pair(std::get<0>(a), std::get<1>(a)) > std::pair(std::get<0>(b), std::get<1>(b));
  };
  std::priority_queue<Head, std::vector<Head>, decltype(is_later)> heads(is_later);
  for (auto& [key, stream] : index.streams) bytes_at_once += stream.MostBytes();
  if (bytes_at_once > kMostBytesAtOnce) return TooLarge();
  const auto push = [&](Stream& stream) {
    if (!stream.Advance(read, gaps)) return;
    heads.emplace(stream.record().event.time, stream.record().group == EtlGroup::kStack, &stream);
  };
  for (auto& [key, stream] : index.streams) {
    stream.Sort();
    push(stream);
  }
  bool has_facts = false;
  while (!heads.empty()) {
    Stream& stream = *std::get<2>(heads.top());
    heads.pop();
    const EtlRecord& record = stream.record();
    if (record.group == EtlGroup::kFile) {
      const std::optional<EtlFileFacts> facts = ReadEtlFileFacts(record.event);
      if (facts && !std::exchange(has_facts, true)) AddFacts(*facts, index, gaps);
    } else if (IsUsable(record, gaps)) {
      take(record);
    }
    push(stream);
  }
  // Each buffer that was written after a loss has a mark, which the file's own count has, too.
  if (gaps.lost_events == 0 && gaps.lost_buffers == 0) gaps.lost_events = index.loss_marks;
  return gaps;
}

}  // namespace leakgate
