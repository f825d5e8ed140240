// Functions that read what a session traces from the text of an option. Usage errors show what to
// write. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"
#include "runner/sessions/session_messages.h"

namespace leakgate {

// Reads --stacks, an option of all commands that start a session: the events whose stacks are
// recorded.
[[nodiscard]] Expected<std::uint32_t> ParseStacks(const std::string& option,
                                                  const std::string& text);
template <typename Target>
void AddStacks(Target& events, OptionList& options) {
  options.Add("--stacks", TextWord("EVENTS"), events, ParseStacks,
              "The events whose call stacks are recorded, of alloc, realloc and free, with commas. "
              "Blocks are counted without, too. free: who frees, by bytes and blocks. churn: what "
              "each stack allocates, freed or not, for snapshot diff. Default: alloc,realloc");
}

// Read IMAGE[:ARGUMENT], and the name of a session.
[[nodiscard]] Expected<ImageSelector> ParseImage(const std::string& option,
                                                 const std::string& text);
[[nodiscard]] Expected<std::string> ParseSessionName(const std::string& option,
                                                     const std::string& text);

}  // namespace leakgate
