// Finds the names of functions as the linker spells them, which frames have only demangled, and all
// that one function has: strdup is also __strdup.
//
// The runner calls it, on one thread. A file is opened when it is first asked for, and kept.
// Nothing here fails: what is not known is left out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace leakgate {

class LinkerNames {
 public:
  LinkerNames();
  ~LinkerNames();
  LinkerNames(LinkerNames&&) noexcept;
  LinkerNames& operator=(LinkerNames&&) noexcept;

  // Returns the symbols of the function that has `address`, an address in the file at `path`.
  [[nodiscard]] std::vector<std::string> At(const std::string& path, std::uint64_t address);

 private:
  struct Files;
  std::unique_ptr<Files> files_;
};

}  // namespace leakgate
