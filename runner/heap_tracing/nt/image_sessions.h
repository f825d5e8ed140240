// Sessions on Windows: each has Windows trace the heaps of programs by their image's name, from
// when it begins until it is stopped, restarts of the machine included. What is recorded so is told
// to whoever listens: wpr, or another user of Windows' event tracing.
//
// Any number of sessions may have the same image: the last one that is stopped puts back what was
// there before the first. One command at a time has the journal, so a function that is killed is
// made up for when the journal is opened next.
#pragma once

#include <string>
#include <vector>

#include "runner/heap_tracing/nt/locked_journal.h"
#include "runner/heap_tracing/nt/registry_flags.h"

namespace leakgate {

// All or nothing. Returns a usage error if there is a session of the name, or if this user may not
// change the registry.
[[nodiscard]] Expected<void> StartImageSession(LockedJournal& journal, const std::string& name,
                                               const std::vector<FlaggedImage>& images,
                                               Recorder recorder = Recorder::kOthers);

// The session's entry in the journal; a usage error if there is no session of the name.
[[nodiscard]] Expected<FlagHolder> FindImageSession(const LockedJournal& journal,
                                                    const std::string& name);

// Returns a usage error if there is no session of the name. Returns whether all has been put back;
// the session goes on for what has not, and journal.problems() says why.
[[nodiscard]] Expected<bool> StopImageSession(LockedJournal& journal, const std::string& name,
                                              LockedJournal::Foreign foreign);

[[nodiscard]] Expected<FlagSurvey> SurveyFlags(const LockedJournal& journal);

}  // namespace leakgate
