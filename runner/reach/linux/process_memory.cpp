#include "runner/reach/linux/process_memory.h"

#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "runner/base/page_size.h"
#include "runner/base/time_limit.h"
#include "runner/process/linux/open_proc_file.h"
#include "runner/process/linux/page_scan.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kWordBytes = sizeof(std::uint64_t);
// These bits of /proc/PID/pagemap say that the page is in memory, or swapped out.
constexpr std::uint64_t kPresent = 1ULL << 63 | 1ULL << 62;

constexpr std::uint64_t kScanForPresent = kPageIsPresent | kPageIsSwapped;

void Append(const PresentPart& part, std::vector<PresentPart>& parts) {
  const bool follows = !parts.empty() && parts.back().range.end == part.range.begin &&
                       parts.back().is_file == part.is_file;
  if (follows) {
    parts.back().range.end = part.range.end;
  } else {
    parts.push_back(part);
  }
}

AddressRange InWholeWords(AddressRange range) {
  return {(range.begin + kWordBytes - 1) & ~(kWordBytes - 1), range.end & ~(kWordBytes - 1)};
}

AddressRange Overlap(AddressRange a, AddressRange b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

// Joins neighbours into ranges that are asked about together: what little lies between costs less
// than another call.
std::vector<AddressRange> JoinNear(const std::vector<AddressRange>& ranges) {
  constexpr std::uint64_t kNear = 8U << 20;
  std::vector<AddressRange> joined;
  for (const AddressRange& range : ranges) {
    if (!joined.empty() && range.begin - joined.back().end <= kNear) {
      joined.back().end = range.end;
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

}  // namespace

ProcessMemory::ProcessMemory(int pid)
    : pid_(pid), memory_(OpenProcFile(pid, "mem")), pages_(OpenProcFile(pid, "pagemap")) {
  std::vector<PresentPart> none;
  passes_over_holes_ = ScanInto({0, PageBytes()}, none);
}

void ProcessMemory::Load(const std::vector<AddressRange>& ranges, Wanted wanted) {
  constexpr std::uint64_t kLargestRange = 64U << 20;  // which may have few pages
  if (!passes_over_holes_) return;
  std::vector<AddressRange> unknown;
  for (const AddressRange& range : ranges) {
    if (range.begin >= range.end || range.end - range.begin > kLargestRange) continue;
    for (const AddressRange& left : SubtractRanges(InWholeWords(range), noted_)) {
      unknown.push_back(left);
    }
  }
  unknown = JoinRanges(std::move(unknown));
  NoteParts(unknown);
  std::vector<AddressRange> parts;
  for (const AddressRange& range : unknown) {
    for (const PresentPart& part : PartsIn(range)) {
      if (part.is_file && wanted == Wanted::kAllButFiles) continue;
      parts.push_back(part.range);
    }
  }
  ReadLoaded(parts);
}

void ProcessMemory::NoteParts(const std::vector<AddressRange>& ranges) {
  std::vector<AddressRange> noted = std::move(noted_);
  auto range = ranges.begin();
  for (const AddressRange& near : JoinNear(ranges)) {
    std::vector<PresentPart> present;
    const bool is_known = ScanInto(near, present);
    auto part = present.begin();
    for (; range != ranges.end() && range->begin < near.end; ++range) {
      if (!is_known) continue;
      noted.push_back(*range);
      while (part != present.end() && part->range.end <= range->begin) ++part;
      for (auto at = part; at != present.end() && at->range.begin < range->end; ++at) {
        const AddressRange both = Overlap(at->range, *range);
        noted_parts_[both.begin] = {both, at->is_file};
      }
    }
  }
  noted_ = JoinRanges(std::move(noted));
}

void ProcessMemory::ReadLoaded(const std::vector<AddressRange>& parts) {
  constexpr std::uint64_t kMostLoaded = 32U << 20;
  constexpr std::size_t kMostAtOnce = 1024;  // IOV_MAX
  for (std::size_t first = 0; first < parts.size();) {
    std::vector<iovec> remote;
    std::uint64_t bytes = 0;
    for (std::size_t i = first; i < parts.size() && remote.size() < kMostAtOnce; ++i) {
      const std::uint64_t length = parts[i].end - parts[i].begin;
      if (loaded_bytes_ + bytes + length > kMostLoaded) break;
      remote.push_back({reinterpret_cast<void*>(parts[i].begin), length});
      bytes += length;
    }
    if (remote.empty()) return;
    Piece buffer = std::make_unique_for_overwrite<std::uint64_t[]>(bytes / kWordBytes);
    const iovec local{buffer.get(), bytes};
    const ssize_t got = ::process_vm_readv(pid_, &local, 1, remote.data(), remote.size(), 0);
    // What cannot be read so is read again, each range by itself, where it is used.
    if (got != static_cast<ssize_t>(bytes)) return;
    std::uint64_t* words = buffer.get();
    for (std::size_t i = first; i < first + remote.size(); ++i) {
      const std::span part(words, (parts[i].end - parts[i].begin) / kWordBytes);
      Clear(parts[i].begin, std::as_writable_bytes(part));
      loaded_[parts[i].begin] = {parts[i].end, words};
      words += part.size();
    }
    load_buffers_.push_back(std::move(buffer));
    loaded_bytes_ += bytes;
    first += remote.size();
  }
}

ProcessMemory::Words ProcessMemory::LoadedAt(std::uint64_t begin) const {
  auto after = loaded_.upper_bound(begin);
  if (after == loaded_.begin()) return {};
  const auto& [from, loaded] = *--after;
  if (begin >= loaded.end) return {};
  return {loaded.words + (begin - from) / kWordBytes, (loaded.end - begin) / kWordBytes};
}

std::uint64_t ProcessMemory::Read(AddressRange range, void* to) const {
  const Words loaded = range.begin % kWordBytes == 0 ? LoadedAt(range.begin) : Words();
  if (loaded.size_bytes() >= range.end - range.begin) {
    std::memcpy(to, loaded.data(), range.end - range.begin);
    return range.end - range.begin;
  }
  std::uint64_t done = 0;
  const std::uint64_t bytes = range.end - range.begin;
  while (done < bytes) {
    const iovec local{static_cast<char*>(to) + done, bytes - done};
    const iovec remote{reinterpret_cast<void*>(range.begin + done), bytes - done};
    const ssize_t got = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    if (got <= 0) break;
    done += static_cast<std::uint64_t>(got);
  }
  if (done == 0) done = ReadByFile(range, to);
  Clear(range.begin, {static_cast<std::byte*>(to), done});
  return done;
}

void ProcessMemory::Clear(std::uint64_t begin, std::span<std::byte> bytes) const {
  for (const AddressRange& zero : zero_) {
    const AddressRange both = Overlap(InWholeWords(zero), {begin, begin + bytes.size()});
    if (both.begin >= both.end) continue;
    std::memset(bytes.data() + (both.begin - begin), 0, both.end - both.begin);
  }
}

// For where process_vm_readv is forbidden.
std::uint64_t ProcessMemory::ReadByFile(AddressRange range, void* to) const {
  const ssize_t got =
      ::pread(memory_.get(), to, range.end - range.begin, static_cast<off_t>(range.begin));
  return got > 0 ? static_cast<std::uint64_t>(got) : 0;
}

bool ProcessMemory::ScanInto(AddressRange range, std::vector<PresentPart>& present) const {
  std::array<FoundPages, 256> found;
  PageScan scan{.begin = range.begin / PageBytes() * PageBytes(),
                .end = (range.end + PageBytes() - 1) / PageBytes() * PageBytes(),
                .found = reinterpret_cast<std::uint64_t>(found.data()),
                .found_length = found.size(),
                .any_of = kScanForPresent,
                .told = kScanForPresent | kPageIsOfFile};
  while (scan.begin < scan.end) {
    const int count = ::ioctl(pages_.get(), kPageScan, &scan);
    if (count < 0 || scan.walk_end <= scan.begin) return false;
    for (const FoundPages& pages : std::span(found).first(static_cast<std::size_t>(count))) {
      Append({Overlap({pages.begin, pages.end}, range), (pages.categories & kPageIsOfFile) != 0},
             present);
    }
    scan.begin = scan.walk_end;
  }
  return true;
}

std::vector<PresentPart> ProcessMemory::PartsIn(AddressRange range) const {
  const bool is_noted = SubtractRanges(range, noted_).empty();
  if (!is_noted) return AskForParts(range);
  std::vector<PresentPart> parts;
  auto at = noted_parts_.upper_bound(range.begin);
  if (at != noted_parts_.begin()) --at;
  for (; at != noted_parts_.end() && at->first < range.end; ++at) {
    const AddressRange both = Overlap(at->second.range, range);
    if (both.begin < both.end) Append({both, at->second.is_file}, parts);
  }
  return parts;
}

std::vector<PresentPart> ProcessMemory::AskForParts(AddressRange range) const {
  std::vector<PresentPart> scanned;
  if (passes_over_holes_ && ScanInto(range, scanned)) return scanned;
  const std::uint64_t first = range.begin / PageBytes();
  const std::uint64_t count = (range.end + PageBytes() - 1) / PageBytes() - first;
  std::vector<std::uint64_t> entries(count);
  const std::size_t bytes = count * sizeof(std::uint64_t);
  const ssize_t got = ::pread(pages_.get(), entries.data(), bytes,
                              static_cast<off_t>(first * sizeof(std::uint64_t)));
  if (got != static_cast<ssize_t>(bytes)) return {{range}};

  std::vector<PresentPart> present;
  for (std::uint64_t page = 0; page < count; ++page) {
    if ((entries[page] & kPresent) == 0) continue;
    const std::uint64_t begin = (first + page) * PageBytes();
    Append({Overlap({begin, begin + PageBytes()}, range)}, present);
  }
  return present;
}

std::vector<AddressRange> ProcessMemory::PresentIn(AddressRange range) const {
  std::vector<AddressRange> present;
  for (const PresentPart& part : PartsIn(range)) AppendRange(part.range, present);
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
  range = InWholeWords(range);
  if (range.begin >= range.end) return;
  Piece buffer;
  ForEachPresent(range, [&](AddressRange part) {
    for (std::uint64_t at = part.begin; at < part.end;) {
      CheckTime();
      const Words loaded = LoadedAt(at);
      if (!loaded.empty()) {
        const Words words = loaded.first(std::min(loaded.size(), (part.end - at) / kWordBytes));
        use(at, words);
        at += words.size_bytes();
        continue;
      }
      if (buffer == nullptr) {
        const std::uint64_t bytes = std::min(kMostAtOnce, range.end - range.begin);
        buffer = std::make_unique_for_overwrite<std::uint64_t[]>(bytes / kWordBytes);
      }
      const std::uint64_t wanted = std::min(part.end, at + kMostAtOnce);
      const std::uint64_t got = Read({at, wanted}, buffer.get()) / kWordBytes;
      use(at, Words(buffer.get(), got));
      // If the page cannot be read, the next one comes.
      at = got != 0 ? at + got * kWordBytes : (at / PageBytes() + 1) * PageBytes();
    }
  });
}

void ProcessMemory::ReadPiece(std::uint64_t begin, std::span<std::uint64_t> words) const {
  auto* const bytes = reinterpret_cast<char*>(words.data());
  std::uint64_t done = begin;  // read or zeroed up to here
  for (const AddressRange& part : PresentIn({begin, begin + words.size_bytes()})) {
    std::memset(bytes + (done - begin), 0, part.begin - done);
    done = part.begin;
    while (done < part.end) {
      const std::uint64_t got = Read({done, part.end}, bytes + (done - begin));
      done += got;
      if (got != 0) continue;
      const std::uint64_t next = std::min((done / PageBytes() + 1) * PageBytes(), part.end);
      std::memset(bytes + (done - begin), 0, next - done);
      done = next;
    }
  }
  std::memset(bytes + (done - begin), 0, begin + words.size_bytes() - done);
}

ProcessMemory::Words ProcessMemory::InPieces(MemoryPieces& pieces, std::uint64_t begin,
                                             std::uint64_t end) const {
  return pieces.At(begin, end, [this](std::uint64_t piece, std::span<std::uint64_t> words) {
    ReadPiece(piece, words);
  });
}

ProcessMemory::Words ProcessMemory::At(std::uint64_t begin, std::uint64_t end) {
  return InPieces(pieces_, begin, end);
}

ProcessMemory::Words ProcessMemory::InOrder(std::uint64_t begin, std::uint64_t end) {
  return InPieces(last_piece_, begin, end);
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

}  // namespace leakgate
