// What earlier runs have found out about the addresses of one file, in one piece of bytes. Pure.
//
// The bytes are searched where they stand: a process asks for some tens of addresses, of thousands.
// They are not trusted: what is damaged, or was written for another file, counts as nothing.
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

  // `bytes` may be empty. `identity` tells which file they have to be of.
  KeptSymbols(std::string bytes, std::string identity);
  ~KeptSymbols();
  KeptSymbols(const KeptSymbols&) = delete;
  KeptSymbols& operator=(const KeptSymbols&) = delete;

  // Returns what is known of `address`; nullopt if it has not been looked up.
  [[nodiscard]] std::optional<std::vector<Frame>> Find(Kind kind, std::uint64_t address) const;
  void Keep(Kind kind, std::uint64_t address, std::vector<Frame> frames);

  [[nodiscard]] bool HasNew() const { return !added_.empty(); }
  // Returns all that is known, and what is in `latest`, which another process may have written
  // meanwhile. Where that would be more than `most_bytes`, only what is new; where that is too
  // much, too, nothing.
  [[nodiscard]] std::string Write(std::string latest, std::size_t most_bytes) const;

 private:
  class Content;
  using Key = std::pair<Kind, std::uint64_t>;

  std::string identity_;
  std::unique_ptr<const Content> content_;  // null if there is none that counts
  std::map<Key, std::vector<Frame>> added_;
};

}  // namespace leakgate
