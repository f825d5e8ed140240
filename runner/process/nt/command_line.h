// Command lines, which are one text on Windows.
#pragma once

#include <string>
#include <vector>

namespace leakgate {

// Returns the line by which a process was started; empty if it has ended, or has not begun.
[[nodiscard]] std::wstring CommandLineOf(int pid);

// Returns the arguments, the program's name first, as the system splits the line; none if the line
// is empty.
[[nodiscard]] std::vector<std::string> SplitCommandLine(const std::wstring& line);

// The same for another process's line. Returns nothing either where runtimes split it in different
// ways, at two quotes in a row.
[[nodiscard]] std::vector<std::string> ArgumentsInLine(const std::wstring& line);

}  // namespace leakgate
