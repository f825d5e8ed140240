#include "runner/cli/heap_tracing/tracing_prose.h"

namespace leakgate {
namespace {

constexpr const char* kFlagExit =
    "0; 2 for a bad command line, no such session, one that exists already, or if only an "
    "administrator may do it; 3 if something in the registry stays as it should not";

}  // namespace

const std::vector<CommandProse>& HeapTracingProse() {
  static const std::vector<CommandProse> all = {
      {.name = "session",
       .summary = "Have Windows trace the heaps of programs by their image's name",
       .usages = {"leakgate session start NAME --image IMAGE", "leakgate session list [--json]",
                  "leakgate session stop NAME [--force]"},
       .description =
           {"A session goes on when the command that started it has ended, and over restarts of "
            "the machine, until it is stopped. Then the registry is as it was before.",
            "What it changes is written down before it is changed, so that the next leakgate "
            "session command puts back what a killed one has left."},
       .exit_lead = kFlagExit},
      {.name = "session start",
       .summary = "Have Windows trace the heap of each process of an image that starts from now on",
       .usages = {"leakgate session start NAME --image IMAGE"},
       .description = {"Sets the heap's bit of TracingFlags in the image's Image File Execution "
                       "Options. Whoever records then has the events: wpr -start Heap -filemode."},
       .exit_lead = kFlagExit,
       .examples = {{"", "leakgate session start web --image nginx.exe"}}},
      {.name = "session list",
       .summary = "Show which images are traced by their name, by whom and since when",
       .usages = {"leakgate session list [--json]"},
       .description = {"Also those that leakgate did not set."},
       .exit_lead = kFlagExit},
      {.name = "session stop",
       .summary = "End a session, and put the registry back",
       .usages = {"leakgate session stop NAME [--force]"},
       .description = {"A value that somebody else has changed meanwhile stays, and is told."},
       .exit_lead = kFlagExit,
       .examples = {{"", "leakgate session stop web"}}}};
  return all;
}

}  // namespace leakgate
