// Reads and writes the memory of another process, and reads what its modules export.
//
// One descriptor leads to the memory that the process had when it was opened. If the process
// executes another program meanwhile, nothing of that is read or written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

class TargetMemory {
 public:
  // Fails if the process has ended, or if the kernel does not permit it.
  [[nodiscard]] static Expected<TargetMemory> Open(int pid);

  int pid() const { return pid_; }

  // Returns why nothing can be read any more: the process has ended, or has executed another
  // program. Returns nothing as long as it can be read. A process that ends loses its memory first.
  [[nodiscard]] std::optional<Error> WhyGone() const;

  // Each reads or writes all bytes, or returns false.
  [[nodiscard]] bool Read(std::uint64_t address, void* to, std::size_t bytes) const;
  [[nodiscard]] bool Write(std::uint64_t address, const void* from, std::size_t bytes) const;

  template <typename T>
  [[nodiscard]] std::optional<T> Get(std::uint64_t address) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    return Read(address, &value, sizeof(value)) ? std::optional<T>(value) : std::nullopt;
  }

 private:
  TargetMemory(int pid, UniqueFd fd) : pid_(pid), fd_(std::move(fd)) {}

  int pid_;
  UniqueFd fd_;
};

// If the process has ended or has executed another program, returns that as the error, because it
// is the cause.
template <typename T>
[[nodiscard]] Expected<T> ReplaceErrorIfGone(const TargetMemory& memory, Expected<T> result) {
  if (result) return result;
  const std::optional<Error> gone = memory.WhyGone();
  return gone ? Unexpected(*gone) : Unexpected(result.error());
}

struct ExportedSymbol {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // equal to begin if its size is not known
  std::string name;
};

// What a module that the process has loaded exports. It is read from memory, because the file may
// have been replaced, or may be in another root directory.
class TargetModule {
 public:
  // Reads the module whose ELF header is at `base`; nothing if there is none. If `only` is given,
  // reads no other symbol.
  [[nodiscard]] static std::optional<TargetModule> Read(const TargetMemory& memory,
                                                        std::uint64_t base,
                                                        std::string_view only = {});

  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return end_; }
  bool Has(std::uint64_t address) const { return address >= begin_ && address < end_; }

  // Returns the address of the function or variable `name`; 0 if the module does not export it.
  [[nodiscard]] std::uint64_t AddressOf(std::string_view name) const;
  // Returns the names of the exported function that `address` is in; none if it is in none.
  [[nodiscard]] std::vector<std::string_view> NamesAt(std::uint64_t address) const;

 private:
  TargetModule() = default;

  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::vector<ExportedSymbol> symbols_;  // sorted by address
};

}  // namespace leakgate
