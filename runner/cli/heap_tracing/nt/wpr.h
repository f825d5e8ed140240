// wpr.exe, Windows' own recorder: called with the commands of its documents, and with nothing else.
// It is found by its whole path alone, since whoever calls it is an administrator.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/expected.h"

namespace leakgate {

class Wpr {
 public:
  // Looks in System32, and where the Windows Performance Toolkit is installed.
  [[nodiscard]] static Expected<Wpr> Find();

  // Returns an error with what wpr says, in one line, unless it ends with 0.
  [[nodiscard]] Expected<void> Run(const std::vector<std::string>& arguments) const;

  // Ends the recording that is running, and keeps it in `file`, with the folder of symbols that wpr
  // may make beside it. REQUIRES: CheckPlace accepts the file. The file is whole or not there; one
  // that has appeared meanwhile stays, and the error tells where the recording is.
  [[nodiscard]] Expected<void> StopInto(const std::filesystem::path& file) const;

  // Returns a usage error if there is a file already, or no folder that it could be in.
  [[nodiscard]] static Expected<void> CheckPlace(const std::filesystem::path& file);

 private:
  explicit Wpr(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace leakgate
