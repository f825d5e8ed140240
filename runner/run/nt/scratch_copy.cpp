#include "runner/run/scratch_copy.h"

#include <fmt/format.h>

#include <random>

#include "runner/base/nt/win32.h"

namespace leakgate {

// Windows cannot show a process another directory under the same path.
std::optional<ScratchCopy> ScratchCopy::OfWorkingDirectory(const std::filesystem::path&) {
  return std::nullopt;
}

void ScratchCopy::NoteRefusal() {}

bool ScratchCopy::Enter() const noexcept { return false; }

// GoogleTest takes a path without a drive, as TMPDIR may have one, for a relative one.
ScratchDirectory ScratchDirectory::In(const std::string& parent) {
  std::random_device random;
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(WideOf(parent), error) /
                                     fmt::format("leakgate-{:08x}{:08x}", random(), random());
  return ScratchDirectory(std::filesystem::create_directory(path, error) ? path
                                                                         : std::filesystem::path());
}

}  // namespace leakgate
