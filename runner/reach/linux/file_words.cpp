#include "runner/reach/linux/file_words.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "runner/reach/byte_search.h"

namespace leakgate {
namespace {

constexpr std::size_t kMostTops = 8;
constexpr std::size_t kMostParts = 10'000;  // of programs that load modules again and again
constexpr std::size_t kDense = 16;          // one of so many words is too much to remember

std::int64_t NanosecondsOf(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool IsSettled(const FileMark& mark, std::chrono::nanoseconds settled) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::chrono::nanoseconds last(std::max(mark.written_ns, mark.changed_ns));
  return now - last >= settled;
}

AddressTops Union(const AddressTops& a, const AddressTops& b) {
  AddressTops both;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

}  // namespace

std::vector<MappedWord> WordsWithTops(std::uint64_t address, ProcessMemory::Words words,
                                      const AddressTops& tops) {
  if (words.empty()) return {};
  const std::size_t last = words.size() - 1;
  std::vector<std::size_t> found{0, last};
  for (const std::uint16_t top : tops) {
    const std::uint8_t bytes[] = {static_cast<std::uint8_t>(top),
                                  static_cast<std::uint8_t>(top >> 8)};
    for (std::size_t at = 0; (at = FindBytes(words, at, bytes)) <= last; ++at) {
      if (at != 0) found.push_back(at - 1);
      found.push_back(at);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<MappedWord> kept;
  kept.reserve(found.size());
  for (const std::size_t i : found) {
    kept.push_back({address + i * sizeof(words[0]), words[i], i == last ? 0 : words[i + 1]});
  }
  return kept;
}

void FileWords::BeginLook(int pid, const std::vector<MappedRange>& maps) {
  pid_ = pid;
  maps_ = &maps;
  marks_.clear();
  if (known_.size() > kMostParts) known_.clear();
}

std::optional<FileMark> FileWords::AskForMark(const MappedRange& range) const {
  const bool is_shared = std::any_of(maps_->begin(), maps_->end(), [&](const MappedRange& other) {
    return other.is_shared && other.inode == range.inode;
  });
  if (is_shared || !range.name.starts_with('/')) return std::nullopt;
  struct stat facts {};
  const std::string path = fmt::format("/proc/{}/root{}", pid_, range.name);
  if (::stat(path.c_str(), &facts) != 0 || facts.st_ino != range.inode) return std::nullopt;
  const FileMark mark{facts.st_dev, facts.st_ino, facts.st_size, NanosecondsOf(facts.st_mtim),
                      NanosecondsOf(facts.st_ctim)};
  if (!S_ISREG(facts.st_mode) || !IsSettled(mark, settled_)) return std::nullopt;
  return mark;
}

std::optional<FileMark> FileWords::MarkOf(const MappedRange& range) {
  const auto [mark, is_new] = marks_.try_emplace(range.name);
  if (is_new) mark->second = AskForMark(range);
  return mark->second && mark->second->inode == range.inode ? mark->second : std::nullopt;
}

const std::vector<MappedWord>* FileWords::In(AddressRange part, const AddressTops& tops,
                                             const ProcessMemory& memory) {
  constexpr std::uint64_t kLargest = 64U << 20;
  // Small numbers are everywhere, and so is the top of an address below 4 GiB.
  const bool is_special = !tops.empty() && tops.front() != 0 && tops.size() <= kMostTops;
  const MappedRange* const range = FindRange(*maps_, part.begin);
  const bool is_whole = range != nullptr && part.end <= range->end && !range->is_shared;
  if (!is_special || !is_whole || part.end - part.begin > kLargest) return nullptr;
  const std::optional<FileMark> mark = MarkOf(*range);
  if (!mark) return nullptr;

  const std::uint64_t offset = range->file_offset + (part.begin - range->begin);
  Known& known = known_[part.begin];
  const bool is_same = known.end == part.end && known.file_offset == offset && known.mark == *mark;
  const bool has_tops =
      std::includes(known.tops.begin(), known.tops.end(), tops.begin(), tops.end());
  if (!is_same || !has_tops) {
    const AddressTops both = is_same ? Union(known.tops, tops) : tops;
    const std::size_t count = (part.end - part.begin) / sizeof(std::uint64_t);
    const auto words = std::make_unique_for_overwrite<std::uint64_t[]>(count);
    if (memory.Read(part, words.get()) != part.end - part.begin) {
      known = {};
      return nullptr;
    }
    known = {part.end, offset, *mark, both.size() <= kMostTops ? both : tops, false, {}};
    known.words = WordsWithTops(part.begin, {words.get(), count}, known.tops);
    known.is_dense = known.words.size() > 2 + count / kDense;
    if (known.is_dense) known.words = {};
  }
  return known.is_dense ? nullptr : &known.words;
}

}  // namespace leakgate
