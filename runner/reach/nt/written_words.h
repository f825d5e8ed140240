// Tells what the program has written into its modules from what their files have there. Tables of
// small numbers look like pointers to a heap below 4 GiB, as Wine's is: a word that is still as in
// the file is none.
//
//   file      00d5 7890   0000 0000   1234 5678
//   memory    00d5 7890   00d5 78c0   1234 5678
//   Of        0           00d5 78c0   0
//
// What cannot be read counts as written.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "runner/reach/nt/process_memory.h"
#include "runner/symbols/nt/pe_file.h"

namespace leakgate {

class WrittenWords {
 public:
  // `modules` must outlive the object.
  explicit WrittenWords(const std::vector<ImageModule>& modules) : modules_(modules) {}

  // Returns the words, of which the first is at `address`, with zeros where they are as in the file
  // of their module. Valid until the next call, and as long as `words` is. REQUIRES: `address` is a
  // multiple of 8.
  ProcessMemory::Words Of(std::uint64_t address, ProcessMemory::Words words);

  // Call it before the process runs again: it could not delete a file that is open.
  void CloseFiles() { files_.clear(); }

 private:
  [[nodiscard]] const PeFile* FileOf(const ImageModule& module);

  const std::vector<ImageModule>& modules_;
  std::map<std::uint64_t, std::unique_ptr<PeFile>> files_;  // by the begin of the module
  std::vector<std::uint64_t> written_;
};

}  // namespace leakgate
