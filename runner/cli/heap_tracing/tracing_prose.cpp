#include "runner/cli/heap_tracing/tracing_prose.h"

namespace leakgate {
namespace {

constexpr const char* kFlagExit =
    "0; 2 for a bad command line, no such session, one that exists already, or if only an "
    "administrator may do it; 3 if something in the registry stays as it should not";

}  // namespace

const std::vector<CommandProse>& HeapTracingProse() {
  static const std::vector<CommandProse> all = {
      {.name = "recording",
       .summary = "Look at recordings of Windows' own heap tracing",
       .usages = {"leakgate recording import FILE.etl [OPTIONS]"},
       .exit_lead = "that of its commands"},
      {.name = "session",
       .summary = "Have Windows trace the heaps of programs by their image's name",
       .usages = {"leakgate session start NAME --image IMAGE [--wpr]",
                  "leakgate session list [--json]",
                  "leakgate session stop NAME [--etl FILE] [--force]",
                  "leakgate session unit NAME --image IMAGE --etl FILE"},
       .description =
           {"A session goes on when the command that started it has ended, and over restarts of "
            "the machine, until it is stopped. Then the registry is as it was before.",
            "What it changes is written down before it is changed, so that the next leakgate "
            "session command puts back what a killed one has left."},
       .exit_lead = kFlagExit},
      {.name = "session start",
       .summary = "Have Windows trace the heap of each process of an image that starts from now on",
       .usages = {"leakgate session start NAME --image IMAGE [--wpr]"},
       .description = {"Sets the heap's bit of TracingFlags in the image's Image File Execution "
                       "Options. Whoever records then has the events: wpr -start Heap -filemode."},
       .exit_lead = kFlagExit,
       .examples = {{"", "leakgate session start web --image nginx.exe --wpr"}}},
      {.name = "session list",
       .summary = "Show which images are traced by their name, by whom and since when",
       .usages = {"leakgate session list [--json]"},
       .description = {"Also those that leakgate did not set."},
       .exit_lead = kFlagExit},
      {.name = "session stop",
       .summary = "End a session, and put the registry back",
       .usages = {"leakgate session stop NAME [--etl FILE] [--force]"},
       .description = {"A value that somebody else has changed meanwhile stays, and is told."},
       .exit_lead = kFlagExit,
       .examples = {{"", "leakgate session stop web --etl web.etl"}}},
      {.name = "session unit",
       .summary = "Print the commands by which Windows records heaps from its next start on",
       .usages = {"leakgate session unit NAME --image IMAGE --etl FILE",
                  "leakgate session unit NAME --image IMAGE --undo"},
       .description = {"A batch file: the image is traced by a session of leakgate's, which has "
                       "a journal, and recorded by an AutoLogger of Windows."},
       .exit_lead = "0; 2 for a bad command line",
       .examples = {{"", "leakgate session unit web --image nginx.exe --etl C:\\boot.etl"}}},
      {.name = "snapshot",
       .summary = "Have wpr take a snapshot of a heap",
       .usages = {"leakgate snapshot take --pid PID --etl FILE [--for TIME]"},
       .exit_lead = "that of its commands"},
      {.name = "snapshot take",
       .summary = "Have wpr trace a process for a while, and keep what it has not freed",
       .usages = {"leakgate snapshot take --pid PID --etl FILE [--for TIME]"},
       .description = {"For WPA. Calls wpr.exe of System32 or of the Windows Performance Toolkit: "
                       "-snapshotconfig, -start heapsnapshot, -singlesnapshot, -stop, and takes "
                       "all back, also after Ctrl-C."},
       .exit_lead = "0; 2 for a bad command line, no such process, or no wpr; 3 if wpr fails",
       .examples = {{"", "leakgate snapshot take --pid 4711 --etl heap.etl --for 1min"}}}};
  return all;
}

}  // namespace leakgate
