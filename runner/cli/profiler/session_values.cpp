#include "runner/cli/profiler/session_values.h"

#include "runner/host/named_sockets.h"
#include "runner/region/region_words.h"

namespace leakgate {

Expected<std::uint32_t> ParseStacks(const std::string&, const std::string& text) {
  return ParseStackEvents(text);
}

Expected<ImageSelector> ParseImage(const std::string&, const std::string& text) {
  return ParseImageSelector(text);
}

Expected<std::string> ParseSessionName(const std::string&, const std::string& text) {
  LEAKGATE_TRY(CheckSessionName(text));
  return text;
}

}  // namespace leakgate
