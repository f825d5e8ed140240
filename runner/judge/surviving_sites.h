// Evidence across the tests of a run: code whose blocks stay from several tests may keep some for
// each, as a cache does that has no bound. A test that is repeated alone finds its own entry again,
// so its series is flat. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/result/run_result.h"

namespace leakgate {

// From how many tests on.
inline constexpr std::size_t kManyTests = 3;

// The names of the tests from which blocks stay to the end, by a text for the code that allocated
// them. Only those of at least kManyTests tests are returned.
using SurvivingSites = std::map<std::string, std::vector<std::string>>;

[[nodiscard]] SurvivingSites FindSurvivingSites(const std::vector<WindowResult>& windows);

// Returns the tests if `finding` is at one of `sites`, and passed only since it did not grow: what
// was seen to stop is bounded, from however many tests it stays. Returns nullptr otherwise.
[[nodiscard]] const std::vector<std::string>* WhereItStays(const Finding& finding,
                                                           const SurvivingSites& sites);

// Makes the finding unconfirmed. `tests` are those of WhereItStays.
void MarkSurviving(const std::vector<std::string>& tests, Finding& finding);

}  // namespace leakgate
