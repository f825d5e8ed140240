// The journal of this user (flag_journal.h), which one command at a time has: the lock goes with
// its process, however that ends. So what is still changing when the journal is opened was left by
// a killed command.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/heap_tracing/flag_journal.h"

namespace leakgate {

class LockedJournal {
 public:
  // Opens the journal, which need not exist. Waits up to ten seconds for another command, and puts
  // back what a killed one has left.
  [[nodiscard]] static Expected<LockedJournal> Open();
  // The same with a folder of its own, for tests.
  [[nodiscard]] static Expected<LockedJournal> OpenIn(const std::filesystem::path& folder);

  FlagJournal entries;

  // Why the last PutBack, or Open, has left something as it is.
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }

  // Writes the entries, and returns when the disk has them; removes the file if there are none.
  // Call it before the registry is changed.
  [[nodiscard]] Expected<void> Write() const;

  // Puts back each value that is changing, and writes what remains. Leaves a value alone that
  // somebody else has changed meanwhile, unless it is forced.
  enum class Foreign { kKept, kOverwritten };
  [[nodiscard]] Expected<void> PutBack(Foreign foreign);

 private:
  LockedJournal(std::filesystem::path folder, UniqueFd lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}

  std::filesystem::path folder_;
  UniqueFd lock_;
  std::vector<std::string> problems_;
};

}  // namespace leakgate
