// What errno says, for messages.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace leakgate {

inline std::string ErrnoText(int error = errno) { return std::generic_category().message(error); }

}  // namespace leakgate
