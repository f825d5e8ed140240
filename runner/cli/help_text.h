// What `leakgate --help`, `leakgate run --help` and `leakgate doctor --help` say.
#pragma once

#include <string>

namespace leakgate {

[[nodiscard]] std::string HelpText();
[[nodiscard]] std::string RunHelpText();
[[nodiscard]] std::string DoctorHelpText();

}  // namespace leakgate
