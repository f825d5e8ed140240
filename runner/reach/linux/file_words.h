// Remembers, from one look at a process to the next, which words of the files that it has mapped
// may be pointers. Most of what a slow look reads is such files: constants and unwind tables of
// modules, which stay what they are. A program that was made by this very process may have
// pointers there all the same, so they are searched: once, and not at each look.
//
//   pages of .rodata    [first].....[word][next]...................[last]
//                                    `-- has bits 32 to 47 of a block's address: its "top"
//
// Whatever way a word leads to a block (odd_words.h), the top of the block's address is in its
// bytes or in those of the word behind it.
//
// Words are remembered of pages that nobody has written (PresentPart::is_file), of a file that the
// process maps only privately, and that nobody has changed since: by its inode, size and times.
// A window's judge has one for each process. Used by one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/file_version.h"
#include "runner/process/proc_files.h"
#include "runner/reach/linux/process_memory.h"

namespace leakgate {

// A word, and the one behind it: 0 if that is not in the same part.
struct MappedWord {
  std::uint64_t address = 0;
  std::uint64_t word = 0;
  std::uint64_t next = 0;

  friend bool operator==(const MappedWord&, const MappedWord&) = default;
};

// The tops of some blocks' addresses, sorted.
using AddressTops = std::vector<std::uint16_t>;

// Returns the words of `words`, of which the first is at `address`, that have one of the tops, and
// those in front of them; also the first and the last, which may belong together with words of
// other parts. Pure.
[[nodiscard]] std::vector<MappedWord> WordsWithTops(std::uint64_t address,
                                                    ProcessMemory::Words words,
                                                    const AddressTops& tops);

class FileWords {
 public:
  // A file counts as unchanged once it has been left alone for `settled`: one that has just been
  // written may be written again within the same tick of the clock.
  explicit FileWords(std::chrono::nanoseconds settled = std::chrono::seconds(2))
      : settled_(settled) {}

  // Begins another look: files are asked once in it. The arguments must outlive the look.
  void BeginLook(int pid, const std::vector<MappedRange>& maps);

  // Returns the words of `part`, by address, that may lead to a block with one of `tops`; nullptr
  // if all of it must be read. Valid until the next call. REQUIRES: the part is of a file.
  const std::vector<MappedWord>* In(AddressRange part, const AddressTops& tops,
                                    const ProcessMemory& memory);

 private:
  struct Known {
    std::uint64_t end = 0;
    std::uint64_t file_offset = 0;
    FileVersion version;
    AddressTops tops;
    bool is_dense = false;  // too many words to keep them
    std::vector<MappedWord> words;
  };

  // Returns nothing if the file may change unseen.
  std::optional<FileVersion> VersionIn(const MappedRange& range);
  [[nodiscard]] std::optional<FileVersion> AskForVersion(const MappedRange& range) const;

  std::chrono::nanoseconds settled_;
  int pid_ = 0;
  const std::vector<MappedRange>* maps_ = nullptr;
  std::map<std::string, std::optional<FileVersion>> versions_;  // of this look
  std::map<std::uint64_t, Known> known_;                        // by the begin of the part
};

}  // namespace leakgate
