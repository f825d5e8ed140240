// The input of a fuzzer as a file, for readers that take a path. It lives in memory and is gone
// with the process, however that ends. Each input replaces the one before.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace leakgate::fuzz {

inline const std::filesystem::path& WriteInputFile(const std::uint8_t* bytes, std::size_t size) {
  static const std::filesystem::path path =
      "/proc/self/fd/" + std::to_string(::memfd_create("leakgate-fuzz", MFD_CLOEXEC));
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  return path;
}

}  // namespace leakgate::fuzz
