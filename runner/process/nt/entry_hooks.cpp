#include "runner/process/entry_hooks.h"

namespace leakgate {

// Nothing in an executable is hooked here.
Expected<std::unique_ptr<EntryHooks>> MakeEntryHooks(int /*pid*/,
                                                     const std::vector<NamedEntry>& /*named*/) {
  return nullptr;
}

Expected<void> RequireEntryHooks(const UniqueFd& /*file*/,
                                 const std::vector<NamedEntry>& /*named*/) {
  return {};
}

}  // namespace leakgate
