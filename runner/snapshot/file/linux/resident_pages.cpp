#include "runner/snapshot/file/resident_pages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "runner/base/page_size.h"
#include "runner/process/linux/open_proc_file.h"
#include "runner/process/linux/page_scan.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

// These bits of an entry of /proc/PID/pagemap say that the page is in memory, or swapped out.
constexpr std::uint64_t kPresent = 1ULL << 63;
constexpr std::uint64_t kSwapped = 1ULL << 62;
// Before Linux 6.7 each page must be read, touched or not: so many bytes take half a second. For
// larger mappings the result is unknown.
constexpr std::uint64_t kMostBytesOneByOne = 256ULL << 30;

std::string ErrorText(int error) { return std::generic_category().message(error); }

// Adds up the pages of one mapping.
class PageSum {
 public:
  explicit PageSum(const MappingCopy& mapping)
      : begin_(mapping.address), end_(mapping.address + mapping.size_bytes) {}

  std::uint64_t begin() const { return begin_ & ~(PageBytes() - 1); }
  std::uint64_t end() const { return (end_ + PageBytes() - 1) & ~(PageBytes() - 1); }

  void Add(std::uint64_t begin, std::uint64_t end, bool is_swapped) {
    begin = std::max(begin, begin_);
    end = std::min(end, end_);
    if (begin >= end) return;
    (is_swapped ? pages_.swapped_bytes : pages_.resident_bytes) += end - begin;
  }
  MappingPages Known() {
    pages_.are_known = true;
    return pages_;
  }

 private:
  std::uint64_t begin_;
  std::uint64_t end_;
  MappingPages pages_;
};

// /proc/PID/pagemap. Once opened, it describes the memory that the process had then: after the
// process has executed another program, it describes nothing any more.
class PageMap {
 public:
  PageMap(int pid, AskForPages how) : file_(OpenProcFile(pid, "pagemap")), error_(errno) {
    if (!file_) return;
    PageScan nothing{.end = PageBytes(), .any_of = kPageIsPresent, .told = kPageIsPresent};
    std::array<FoundPages, 1> found;
    nothing.found = reinterpret_cast<std::uint64_t>(found.data());
    nothing.found_length = found.size();
    can_scan_ = how == AskForPages::kAsKernelCan && ::ioctl(file_.get(), kPageScan, &nothing) >= 0;
  }

  bool IsOpen() const { return static_cast<bool>(file_); }
  int error() const { return error_; }
  bool CanScan() const { return can_scan_; }

  // Returns nothing if the kernel does not say.
  std::optional<MappingPages> Ask(const MappingCopy& mapping) {
    PageSum sum(mapping);
    if (mapping.address == 0 || sum.end() <= sum.begin()) return std::nullopt;
    const bool is_told = can_scan_ ? Scan(sum) : Read(sum);
    if (!is_told) return std::nullopt;
    return sum.Known();
  }

 private:
  // The empty page of zeros, which the kernel gives for a read of an untouched page, takes no
  // memory.
  bool Scan(PageSum& sum) const {
    constexpr std::uint64_t kAny = kPageIsPresent | kPageIsSwapped;
    std::array<FoundPages, 256> found;
    PageScan scan{.begin = sum.begin(),
                  .end = sum.end(),
                  .found = reinterpret_cast<std::uint64_t>(found.data()),
                  .found_length = found.size(),
                  .inverted = kPageIsZeros,
                  .all_of = kPageIsZeros,
                  .any_of = kAny,
                  .told = kAny};
    while (scan.begin < scan.end) {
      const int count = ::ioctl(file_.get(), kPageScan, &scan);
      if (count < 0 || scan.walk_end <= scan.begin) return false;
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        sum.Add(found[i].begin, found[i].end, (found[i].categories & kPageIsSwapped) != 0);
      }
      scan.begin = scan.walk_end;
    }
    return true;
  }

  bool Read(PageSum& sum) {
    std::uint64_t page = sum.begin() / PageBytes();
    const std::uint64_t end = sum.end() / PageBytes();
    const std::uint64_t bytes = (end - page) * PageBytes();
    if (bytes > kMostBytesOneByOne - read_one_by_one_) return false;
    read_one_by_one_ += bytes;
    entries_.resize(std::size_t{1} << 16);
    while (page < end) {
      const std::uint64_t count = std::min<std::uint64_t>(entries_.size(), end - page);
      const ssize_t got = ::pread(file_.get(), entries_.data(), count * sizeof(entries_[0]),
                                  static_cast<off_t>(page * sizeof(entries_[0])));
      if (got <= 0) return false;
      const auto read = static_cast<std::uint64_t>(got) / sizeof(entries_[0]);
      for (std::uint64_t i = 0; i < read; ++i, ++page) {
        if ((entries_[i] & (kPresent | kSwapped)) == 0) continue;
        sum.Add(page * PageBytes(), (page + 1) * PageBytes(), (entries_[i] & kSwapped) != 0);
      }
    }
    return true;
  }

  UniqueFd file_;
  int error_;
  bool can_scan_ = false;
  std::uint64_t read_one_by_one_ = 0;
  std::vector<std::uint64_t> entries_;
};

struct CloseStream {
  void operator()(std::FILE* stream) const { (void)std::fclose(stream); }
};

// Calls `use(begin, end, bytes)` for each range of /proc/PID/NAME, which is smaps or smaps_rollup,
// that has pages which the kernel may take back (MADV_FREE).
template <typename Use>
void ForEachLazilyFreed(int pid, const char* name, Use use) {
  UniqueFd file = OpenProcFile(pid, name);
  std::unique_ptr<std::FILE, CloseStream> stream(file ? ::fdopen(file.get(), "r") : nullptr);
  if (!stream) return;
  (void)file.Release();  // the stream owns the descriptor now
  constexpr std::string_view kKey = "LazyFree:";
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  // A path may be longer: the rest of it is not a line that is recognised.
  std::array<char, 8192> line;
  while (std::fgets(line.data(), static_cast<int>(line.size()), stream.get()) != nullptr) {
    const std::string_view text(line.data());
    if (text.starts_with(kKey)) {
      const std::string_view digits =
          text.substr(std::min(text.find_first_of("0123456789"), text.size()));
      std::uint64_t kib = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), kib);
      if (kib != 0) use(begin, end, kib << 10);
      continue;
    }
    const std::vector<MappedRange> range = ParseMaps(text);
    if (range.size() != 1) continue;
    begin = range[0].begin;
    end = range[0].end;
  }
}

// The kernel counts them by its own ranges, which it may make of several adjacent mappings. If such
// a range contains more than one mapping, or other memory as well, it is unknown to which mapping
// they belong.
void AddLazilyFreed(int pid, const std::vector<MappingCopy>& mappings, ResidentPages& pages) {
  bool are_there_any = false;
  ForEachLazilyFreed(pid, "smaps_rollup", [&](auto, auto, auto) { are_there_any = true; });
  if (!are_there_any) return;
  ForEachLazilyFreed(
      pid, "smaps", [&](std::uint64_t begin, std::uint64_t end, std::uint64_t bytes) {
        // They are sorted by address, and hardly overlap.
        auto after = std::lower_bound(mappings.begin(), mappings.end(), end,
                                      [](const MappingCopy& mapping, std::uint64_t address) {
                                        return mapping.address < address;
                                      });
        bool is_ours = false;
        while (after != mappings.begin()) {
          --after;
          const std::uint64_t mapping_end = after->address + after->size_bytes;
          if (mapping_end <= begin) break;
          is_ours = true;
          MappingPages& of = pages.mappings[static_cast<std::size_t>(after - mappings.begin())];
          if (after->address <= begin && mapping_end >= end && of.are_known) {
            of.lazily_freed_bytes = std::min(of.lazily_freed_bytes + bytes, of.resident_bytes);
            return;
          }
        }
        if (is_ours) pages.all.unassigned_lazily_freed_bytes += bytes;
      });
}

// Returns false for a process that has executed another program, or is no longer traced: it does
// not have the region.
bool HasInMemory(int pid, const RegionReader& region) {
  const std::uint64_t inode = region.Inode();
  const Expected<std::vector<MappedRange>> ranges = ReadMaps(pid);
  return inode != 0 && ranges &&
         std::any_of(ranges->begin(), ranges->end(), [&](const MappedRange& range) {
           return range.inode == inode && range.is_shared && range.name.starts_with("/memfd:");
         });
}

ResidentPages NotKnown(std::string problem, std::size_t count) {
  ResidentPages pages;
  pages.all.problem = std::move(problem);
  pages.mappings.resize(count);
  return pages;
}

ResidentPages Find(int pid, PageMap& map, const std::vector<MappingCopy>& mappings) {
  ResidentPages pages;
  pages.all.source = map.CanScan() ? PageSource::kScan : PageSource::kPageMap;
  bool is_any_known = false;
  for (const MappingCopy& mapping : mappings) {
    pages.mappings.push_back(map.Ask(mapping).value_or(MappingPages{}));
    is_any_known = is_any_known || pages.mappings.back().are_known;
  }
  if (!is_any_known)
    return NotKnown("the kernel gave no information about any page", mappings.size());
  AddLazilyFreed(pid, mappings, pages);
  return pages;
}

}  // namespace

ResidentPages FindResidentPages(int pid, const RegionReader& region,
                                const std::vector<MappingCopy>& mappings) {
  if (mappings.empty()) return {};
  // The file is opened before it is known to be the right one: so it cannot become another one.
  PageMap map(pid, AskForPages::kAsKernelCan);
  if (!map.IsOpen()) {
    return NotKnown(fmt::format("/proc/{}/pagemap: {}", pid, ErrorText(map.error())),
                    mappings.size());
  }
  if (!HasInMemory(pid, region)) {
    return NotKnown("the process has gone, or executes another program by now", mappings.size());
  }
  return Find(pid, map, mappings);
}

ResidentPages FindResidentPages(int pid, const std::vector<MappingCopy>& mappings,
                                AskForPages how) {
  PageMap map(pid, how);
  return Find(pid, map, mappings);
}

}  // namespace leakgate
