#include "runner/process/called_name.h"

#include <system_error>

namespace leakgate {

std::string CalledName(const std::filesystem::path& called, const std::filesystem::path& image) {
  std::error_code error;
  const bool leads_there = std::filesystem::equivalent(called, image, error);
  return leads_there && !error ? called.string() : image.string();
}

}  // namespace leakgate
