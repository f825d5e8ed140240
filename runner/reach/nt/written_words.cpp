#include "runner/reach/nt/written_words.h"

#include <algorithm>
#include <cstring>

namespace leakgate {

const PeFile* WrittenWords::FileOf(const ImageModule& module) {
  const auto [file, is_new] = files_.try_emplace(module.range.begin);
  if (is_new) file->second = PeFile::Open(module.path);
  return file->second.get();
}

ProcessMemory::Words WrittenWords::Of(std::uint64_t address, ProcessMemory::Words words) {
  const auto module =
      std::find_if(modules_.begin(), modules_.end(),
                   [address](const ImageModule& one) { return one.range.Has(address); });
  const PeFile* const file = module == modules_.end() ? nullptr : FileOf(*module);
  if (file == nullptr) return words;
  written_.assign(words.begin(), words.end());
  const std::uint64_t end = address + words.size_bytes();
  for (const PeFile::Section& section : file->sections()) {
    const std::uint64_t begin = module->range.begin + section.begin;
    const std::uint64_t first = std::max(address, (begin + 7) & ~std::uint64_t{7});
    for (std::uint64_t at = first; at + 8 <= std::min(end, begin + section.bytes.size()); at += 8) {
      std::uint64_t in_file = 0;
      std::memcpy(&in_file, &section.bytes[at - begin], sizeof in_file);
      std::uint64_t& word = written_[(at - address) / 8];
      if (word == in_file) word = 0;
    }
  }
  return written_;
}

}  // namespace leakgate
