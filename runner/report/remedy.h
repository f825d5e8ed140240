// Says what to put into a budget file to allow exactly what was measured. Pure.
#pragma once

#include <string>

#include "runner/result/run_result.h"

namespace leakgate {

// Returns JSON, ready to paste, that raises each limit that `window` is over to what it
// measured: an override for a test or a suite; for the program window, which
// has none, the file's own limits; a whole file where none covers the window.
[[nodiscard]] std::string RemedyJson(const WindowResult& window);

// Returns one line: "fix it, or allow it in \"overrides\" of net.json: {...}".
[[nodiscard]] std::string RemedyText(const WindowResult& window);

}  // namespace leakgate
