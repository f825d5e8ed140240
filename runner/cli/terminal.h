// Where the runner's own text goes, and how it looks there.
#pragma once

#include <cstdio>
#include <string>

#include "runner/report/style.h"

namespace leakgate {

// A broken pipe behind the stream is no concern of the run's.
void Print(std::FILE* stream, const std::string& text);

// Colour on a terminal, unless NO_COLOR forbids it.
[[nodiscard]] Colour ColourOf(std::FILE* stream);
[[nodiscard]] TextStyle StyleOfStandardError();

}  // namespace leakgate
