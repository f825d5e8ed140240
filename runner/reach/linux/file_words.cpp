#include "runner/reach/linux/file_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "runner/reach/byte_search.h"

namespace leakgate {
namespace {

constexpr std::size_t kMostTops = 8;
constexpr std::size_t kMostParts = 10'000;  // of programs that load modules again and again
constexpr std::size_t kDense = 16;          // one of so many words is too much to remember

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
  versions_.clear();
  if (known_.size() > kMostParts) known_.clear();
}

std::optional<FileVersion> FileWords::AskForVersion(const MappedRange& range) const {
  const bool is_shared = std::any_of(maps_->begin(), maps_->end(), [&](const MappedRange& other) {
    return other.is_shared && other.inode == range.inode;
  });
  if (is_shared || !range.name.starts_with('/')) return std::nullopt;
  const std::optional<FileVersion> version =
      VersionOf(fmt::format("/proc/{}/root{}", pid_, range.name));
  const bool is_known = version && version->inode == range.inode && IsSettled(*version, settled_);
  return is_known ? version : std::nullopt;
}

std::optional<FileVersion> FileWords::VersionIn(const MappedRange& range) {
  const auto [version, is_new] = versions_.try_emplace(range.name);
  if (is_new) version->second = AskForVersion(range);
  return version->second && version->second->inode == range.inode ? version->second : std::nullopt;
}

const std::vector<MappedWord>* FileWords::In(AddressRange part, const AddressTops& tops,
                                             const ProcessMemory& memory) {
  constexpr std::uint64_t kLargest = 64U << 20;
  // Small numbers are everywhere, and so is the top of an address below 4 GiB.
  const bool is_special = !tops.empty() && tops.front() != 0 && tops.size() <= kMostTops;
  const MappedRange* const range = FindRange(*maps_, part.begin);
  const bool is_whole = range != nullptr && part.end <= range->end && !range->is_shared;
  if (!is_special || !is_whole || part.end - part.begin > kLargest) return nullptr;
  const std::optional<FileVersion> version = VersionIn(*range);
  if (!version) return nullptr;

  const std::uint64_t offset = range->file_offset + (part.begin - range->begin);
  Known& known = known_[part.begin];
  const bool is_same =
      known.end == part.end && known.file_offset == offset && known.version == *version;
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
    known = {part.end, offset, *version, both.size() <= kMostTops ? both : tops, false, {}};
    known.words = WordsWithTops(part.begin, {words.get(), count}, known.tops);
    known.is_dense = known.words.size() > 2 + count / kDense;
    if (known.is_dense) known.words = {};
  }
  return known.is_dense ? nullptr : &known.words;
}

std::shared_ptr<FileWords> NewFileWords() { return std::make_shared<FileWords>(); }

}  // namespace leakgate
