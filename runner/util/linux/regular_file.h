// Opens what others name, which may be anything: a FIFO would have the reader wait, and a
// device may act on being opened.
#pragma once

#include <functional>
#include <string>

#include "runner/util/linux/unique_fd.h"

namespace leakgate {

// For reading; none if it is no regular file, or cannot be opened: errno says which.
[[nodiscard]] UniqueFd OpenRegularFile(const std::string& path);

// The same, if `accepts` the file by the name that the kernel has for it: absolute, without
// links and "..". What is opened is the file that was asked about, whatever `path` leads to
// meanwhile.
[[nodiscard]] UniqueFd OpenRegularFileIf(const std::string& path,
                                         const std::function<bool(const std::string&)>& accepts);

}  // namespace leakgate
