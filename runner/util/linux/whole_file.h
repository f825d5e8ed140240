// A file's text in one go, those of /proc among them: their processes may go while they are
// read, which is an error of reading. (The standard library's stream buffers throw then.)
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <tl/expected.hpp>

namespace leakgate {

[[nodiscard]] tl::expected<std::string, std::error_code> ReadWholeFile(
    const std::filesystem::path& path);

}  // namespace leakgate
