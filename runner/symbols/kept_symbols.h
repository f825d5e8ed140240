// What earlier runs have found out about the addresses of one file, as one block of bytes. Pure.
//
// The bytes are searched without being unpacked: a process asks for some tens of addresses, of
// thousands. They are not trusted: bytes that are damaged, or were written for another file, count
// as empty.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runner/symbols/frame.h"

namespace leakgate {

// A variable is kept as a frame that has its name and its position.
class KeptSymbols {
 public:
  enum class Kind : std::uint32_t { kFrames, kGlobal, kThreadLocal, kSymbol };

  // `bytes` may be empty. `identity` says for which file they must have been written.
  KeptSymbols(std::string bytes, std::string identity);
  ~KeptSymbols();
  KeptSymbols(const KeptSymbols&) = delete;
  KeptSymbols& operator=(const KeptSymbols&) = delete;

  // Returns what is known of `address`; nullopt if it has not been looked up.
  [[nodiscard]] std::optional<std::vector<Frame>> Find(Kind kind, std::uint64_t address) const;
  void Keep(Kind kind, std::uint64_t address, std::vector<Frame> frames);

  [[nodiscard]] bool HasNew() const { return !added_.empty(); }
  // Returns all that is known, together with the content of `latest`, which another process may
  // have written since. If that would be more than `most_bytes`, returns only the new part; if even
  // that is too large, returns nothing.
  [[nodiscard]] std::string Write(std::string latest, std::size_t most_bytes) const;

 private:
  class Content;
  using Key = std::pair<Kind, std::uint64_t>;

  std::string identity_;
  std::unique_ptr<const Content> content_;  // null if there is no valid content
  std::map<Key, std::vector<Frame>> added_;
};

}  // namespace leakgate
