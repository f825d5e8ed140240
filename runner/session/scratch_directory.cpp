#include "runner/session/scratch_directory.h"

#include <stdlib.h>

#include <string>
#include <system_error>

namespace leakgate {

ScratchDirectory ScratchDirectory::BesideTestTmpdir() {
  const char* const parent = std::getenv("TEST_TMPDIR");
  if (parent == nullptr || *parent == '\0') return ScratchDirectory({});
  std::string path = std::string(parent) + "/leakgate-XXXXXX";
  return ScratchDirectory(::mkdtemp(path.data()) != nullptr ? path : std::string());
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace leakgate
