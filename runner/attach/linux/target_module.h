// The memory of another process, through one descriptor. The descriptor stays with the memory that
// it was opened on: if the process executes another program meanwhile, nothing of that is read or
// written.
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
  // Fails if the process has gone, or its memory is not ours to see.
  [[nodiscard]] static Expected<TargetMemory> Open(int pid);

  int pid() const { return pid_; }

  // Returns why nothing can be read any more: the process has ended, or has executed another
  // program. Returns nothing while it can. At the end of a process its memory goes before the
  // process does.
  [[nodiscard]] std::optional<Error> WhyGone() const;

  // Each reads or writes all of it, or returns false.
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

// Replaces an error by the reason why the process has gone, if it has: that is why something
// failed.
template <typename T>
[[nodiscard]] Expected<T> UnlessGone(const TargetMemory& memory, Expected<T> result) {
  if (result) return result;
  const std::optional<Error> gone = memory.WhyGone();
  return gone ? Unexpected(*gone) : Unexpected(result.error());
}

// What a module that another process has loaded exports. It is read from the process's memory,
// since the file may have been replaced, or may be in another root.

struct ExportedSymbol {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // equal to begin if its size is not known
  std::string name;
};

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

  // Where the function or variable `name` is; 0 if it exports none.
  [[nodiscard]] std::uint64_t AddressOf(std::string_view name) const;
  // The names of the exported function that `address` is in; none if it is in none.
  [[nodiscard]] std::vector<std::string_view> NamesAt(std::uint64_t address) const;

 private:
  TargetModule() = default;

  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::vector<ExportedSymbol> symbols_;  // by address
};

}  // namespace leakgate
