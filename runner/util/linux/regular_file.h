// Opens what others name, which may be anything: a FIFO would have the reader wait, and a
// device may act on being opened.
#pragma once

#include <string>

#include "runner/util/linux/unique_fd.h"

namespace leakgate {

// For reading; none if it is no regular file, or cannot be opened: errno says which.
[[nodiscard]] UniqueFd OpenRegularFile(const std::string& path);

}  // namespace leakgate
