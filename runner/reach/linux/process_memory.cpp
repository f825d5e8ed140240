#include "runner/reach/linux/process_memory.h"

#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kWordBytes = sizeof(std::uint64_t);
// These bits of /proc/PID/pagemap say that the page is in memory, or swapped out.
constexpr std::uint64_t kPresent = 1ULL << 63 | 1ULL << 62;

// PAGEMAP_SCAN of Linux 6.7, which older headers do not have.
struct PageScan {
  std::uint64_t size = sizeof(PageScan);
  std::uint64_t flags = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t walk_end = 0;  // the kernel writes here how far it came
  std::uint64_t found = 0;
  std::uint64_t found_length = 0;
  std::uint64_t most_pages = 0;
  std::uint64_t inverted = 0;
  std::uint64_t all_of = 0;
  std::uint64_t any_of = 0;
  std::uint64_t told = 0;
};
struct FoundPages {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t categories;
};
constexpr unsigned long kPageScan = _IOWR('f', 16, PageScan);
constexpr std::uint64_t kScanForPresent = 1U << 3 | 1U << 4;  // in memory, or swapped out

// Adds a range that begins where the last one begins, or later.
void Append(AddressRange range, std::vector<AddressRange>& ranges) {
  if (!ranges.empty() && range.begin <= ranges.back().end) {
    ranges.back().end = std::max(ranges.back().end, range.end);
  } else {
    ranges.push_back(range);
  }
}

}  // namespace

ProcessMemory::ProcessMemory(int pid)
    : pid_(pid), memory_(OpenProcFile(pid, "mem")), pages_(OpenProcFile(pid, "pagemap")) {
  std::vector<AddressRange> none;
  passes_over_holes_ = ScanInto({0, kPageBytes}, none);
}

std::uint64_t ProcessMemory::Read(AddressRange range, void* to) const {
  std::uint64_t done = 0;
  const std::uint64_t bytes = range.end - range.begin;
  while (done < bytes) {
    const iovec local{static_cast<char*>(to) + done, bytes - done};
    const iovec remote{reinterpret_cast<void*>(range.begin + done), bytes - done};
    const ssize_t got = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    if (got <= 0) break;
    done += static_cast<std::uint64_t>(got);
  }
  if (done != 0) return done;
  return ReadByFile(range, to);
}

// For where process_vm_readv is forbidden.
std::uint64_t ProcessMemory::ReadByFile(AddressRange range, void* to) const {
  const ssize_t got =
      ::pread(memory_.get(), to, range.end - range.begin, static_cast<off_t>(range.begin));
  return got > 0 ? static_cast<std::uint64_t>(got) : 0;
}

bool ProcessMemory::ScanInto(AddressRange range, std::vector<AddressRange>& present) const {
  std::array<FoundPages, 256> found;
  PageScan scan{.begin = range.begin / kPageBytes * kPageBytes,
                .end = (range.end + kPageBytes - 1) / kPageBytes * kPageBytes,
                .found = reinterpret_cast<std::uint64_t>(found.data()),
                .found_length = found.size(),
                .any_of = kScanForPresent,
                .told = kScanForPresent};
  while (scan.begin < scan.end) {
    const int count = ::ioctl(pages_.get(), kPageScan, &scan);
    if (count < 0 || scan.walk_end <= scan.begin) return false;
    for (const FoundPages& pages : std::span(found).first(static_cast<std::size_t>(count))) {
      Append({std::max(pages.begin, range.begin), std::min(pages.end, range.end)}, present);
    }
    scan.begin = scan.walk_end;
  }
  return true;
}

std::vector<AddressRange> ProcessMemory::PresentIn(AddressRange range) const {
  std::vector<AddressRange> scanned;
  if (passes_over_holes_ && ScanInto(range, scanned)) return scanned;
  const std::uint64_t first = range.begin / kPageBytes;
  const std::uint64_t count = (range.end + kPageBytes - 1) / kPageBytes - first;
  std::vector<std::uint64_t> entries(count);
  const std::size_t bytes = count * sizeof(std::uint64_t);
  const ssize_t got = ::pread(pages_.get(), entries.data(), bytes,
                              static_cast<off_t>(first * sizeof(std::uint64_t)));
  if (got != static_cast<ssize_t>(bytes)) return {range};

  std::vector<AddressRange> present;
  for (std::uint64_t page = 0; page < count; ++page) {
    if ((entries[page] & kPresent) == 0) continue;
    Append({std::max((first + page) * kPageBytes, range.begin),
            std::min((first + page + 1) * kPageBytes, range.end)},
           present);
  }
  return present;
}

void ProcessMemory::ForEachPresent(AddressRange range,
                                   const std::function<void(AddressRange)>& use) const {
  constexpr std::uint64_t kMostAsked = 1U << 30;  // for one read of the page map
  for (std::uint64_t begin = range.begin; begin < range.end;) {
    const std::uint64_t end = std::min(range.end, begin + kMostAsked);
    for (const AddressRange& part : PresentIn({begin, end})) use(part);
    begin = end;
  }
}

void ProcessMemory::ForEachPart(AddressRange range,
                                const std::function<void(std::uint64_t, Words)>& use) const {
  constexpr std::uint64_t kMostAtOnce = 1U << 20;
  // A module's data ends where its last variable does.
  range.begin = (range.begin + kWordBytes - 1) & ~(kWordBytes - 1);
  range.end &= ~(kWordBytes - 1);
  if (range.begin >= range.end) return;
  std::vector<std::uint64_t> words(std::min(kMostAtOnce, range.end - range.begin) / kWordBytes);
  ForEachPresent(range, [&](AddressRange part) {
    for (std::uint64_t at = part.begin; at < part.end;) {
      const std::uint64_t wanted = std::min(part.end, at + kMostAtOnce);
      const std::uint64_t got = Read({at, wanted}, words.data()) / kWordBytes;
      use(at, Words(words.data(), got));
      // If the page cannot be read, the next one comes.
      at = got != 0 ? at + got * kWordBytes : (at / kPageBytes + 1) * kPageBytes;
    }
  });
}

ProcessMemory::Piece ProcessMemory::ReadPiece(std::uint64_t begin) const {
  Piece piece(new std::uint64_t[kPieceBytes / kWordBytes]);
  auto* const bytes = reinterpret_cast<char*>(piece.get());
  std::uint64_t done = begin;  // read or zeroed up to here
  for (const AddressRange& part : PresentIn({begin, begin + kPieceBytes})) {
    std::memset(bytes + (done - begin), 0, part.begin - done);
    done = part.begin;
    while (done < part.end) {
      const std::uint64_t got = Read({done, part.end}, bytes + (done - begin));
      done += got;
      if (got != 0) continue;
      const std::uint64_t next = std::min((done / kPageBytes + 1) * kPageBytes, part.end);
      std::memset(bytes + (done - begin), 0, next - done);
      done = next;
    }
  }
  std::memset(bytes + (done - begin), 0, begin + kPieceBytes - done);
  return piece;
}

ProcessMemory::Words ProcessMemory::At(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t piece_begin = begin & ~(kPieceBytes - 1);
  if (last_ == nullptr || last_begin_ != piece_begin) {
    const auto [entry, is_new] = pieces_.try_emplace(piece_begin);
    if (is_new) entry->second = ReadPiece(piece_begin);
    last_ = entry->second.get();
    last_begin_ = piece_begin;
  }
  const std::uint64_t stop = std::min(end, piece_begin + kPieceBytes);
  return {last_ + (begin - piece_begin) / kWordBytes, (stop - begin) / kWordBytes};
}

std::vector<std::uint64_t> ProcessMemory::ReadEach(const std::vector<std::uint64_t>& addresses) {
  constexpr std::size_t kMostAtOnce = 1024;  // IOV_MAX
  std::vector<std::uint64_t> words(addresses.size());
  std::vector<iovec> remote;
  for (std::size_t first = 0; first < addresses.size();) {
    const std::size_t count = std::min(kMostAtOnce, addresses.size() - first);
    remote.clear();
    for (std::size_t i = 0; i < count; ++i) {
      remote.push_back({reinterpret_cast<void*>(addresses[first + i]), kWordBytes});
    }
    const iovec local{&words[first], count * kWordBytes};
    const ssize_t got = ::process_vm_readv(pid_, &local, 1, remote.data(), count, 0);
    first += got > 0 ? static_cast<std::size_t>(got) / kWordBytes : 0;
    if (got == static_cast<ssize_t>(count * kWordBytes)) continue;
    // It stopped at a word that cannot be read so.
    words[first] = At(addresses[first], addresses[first] + kWordBytes).front();
    ++first;
  }
  return words;
}

std::vector<AddressRange> JoinRanges(std::vector<AddressRange> ranges) {
  std::erase_if(ranges, [](const AddressRange& range) { return range.begin >= range.end; });
  std::sort(ranges.begin(), ranges.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
  std::vector<AddressRange> joined;
  for (const AddressRange& range : ranges) Append(range, joined);
  return joined;
}

std::vector<AddressRange> SubtractRanges(AddressRange range,
                                         const std::vector<AddressRange>& excluded) {
  std::vector<AddressRange> left;
  auto at = std::partition_point(
      excluded.begin(), excluded.end(),
      [&](const AddressRange& candidate) { return candidate.end <= range.begin; });
  std::uint64_t begin = range.begin;
  for (; at != excluded.end() && at->begin < range.end; ++at) {
    if (at->begin > begin) left.push_back({begin, at->begin});
    begin = std::max(begin, at->end);
  }
  if (begin < range.end) left.push_back({begin, range.end});
  return left;
}

}  // namespace leakgate
