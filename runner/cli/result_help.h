// What `leakgate merge --help` and `leakgate history --help` say.
#pragma once

#include <string>

namespace leakgate {

[[nodiscard]] std::string MergeHelpText();
[[nodiscard]] std::string HistoryHelpText();

}  // namespace leakgate
