#include "runner/cli/command_prose.h"

#include <fmt/format.h>

namespace leakgate {
namespace {

CommandProse LeakgateProse() {
  return {.name = "",
          .summary = "a leak gate for GoogleTest suites",
          .usages = {"leakgate run [OPTIONS] -- BINARY [ARGS...]", "leakgate doctor BINARY",
                     "leakgate explain TEST [--budgets FILE|DIR] [-- BINARY [ARGS...]]",
                     "leakgate budget schema|check|init|ratchet ...",
                     "leakgate merge [OPTIONS] RESULT...", "leakgate history add|show|trend DB ...",
                     "leakgate session start|exec|update|query|list|stop ...",
                     "leakgate snapshot config|take|periodic|show|diff|export ...",
                     "leakgate framework", "leakgate completion bash|zsh|fish",
                     "leakgate man [COMMAND...]"},
          .exit_lead = "leakgate run passes on the program's own if that is not 0; else",
          .exit_codes = {{"0", "every window is within its budget, or the command is done"},
                         {"1", "over budget"},
                         {"2", "bad command line, no such program, a bad budget file or result"},
                         {"3", "inconclusive: what could not be measured is never a pass"}},
          .files = {{"NAME.leakgate.json",
                     "A budget file: leakgate budget schema prints what it may hold."}},
          .examples = {
              {"", "leakgate run --report json=leaks.json -- ./net_test --gtest_filter='Http*'"}}};
}

CommandProse RunProse() {
  return {
      .name = "run",
      .summary =
          "Run a test binary, and fail each test that leaves more memory allocated than its budget "
          "allows",
      .usages = {"leakgate run [OPTIONS] -- BINARY [ARGS...]"},
      .description = {"The binary needs no rebuild; its input, output, arguments and signals are "
                      "its own. Of any other program the whole run is one window."},
      .exit_lead = "the program's own if that is not 0 (128+n for signal n), else",
      .exit_codes = {{"0", "every window is within its budget; unconfirmed ones are reported"},
                     {"1", "a window is over budget"},
                     {"2", "bad command line or budget file, or no such program"},
                     {"3", "inconclusive: refused, not measured in full, or timed out"}},
      .environment =
          {{"NO_COLOR", "Unless it is empty, nothing is coloured."},
           {"TERM", "Of a terminal that is dumb or not named, only lines are written."},
           {"LEAKGATE_PROGRESS_INTERVAL", "Seconds between lines of progress. Default: 30."},
           {"TEST_TMPDIR", "Repetitions of tests are given a directory of their own beside it."},
           {"GTEST_FILTER, GTEST_TOTAL_SHARDS, GTEST_SHARD_INDEX, GTEST_OUTPUT, XML_OUTPUT_FILE",
            "Are the program's. leakgate reads them to know which of the tests ran, and what "
            "became of each."},
           {"GITHUB_WORKSPACE, CI_PROJECT_DIR",
            "Paths in reports are relative to it. Default: the current directory."},
           {"GITHUB_STEP_SUMMARY", "A markdown report of that name is appended."}},
      .files =
          {{"*.leakgate.json", "Budget files, below a directory that --budgets names."},
           {"../lib/libleakgate_agent.so",
            "Seen from leakgate's own directory: the agent, which is preloaded into the program."}},
      .examples = {{"Begin with a suite that nobody has gated yet, and keep what it leaves today",
                    "leakgate run --warn-only --report json=before.json -- build/my_tests"},
                   {"From then on only what is new fails",
                    "leakgate run --baseline before.json -- build/my_tests"},
                   {"Under budgets, with a page to look at",
                    "leakgate run --budgets tests --report html=leaks.html -- build/my_tests"}}};
}

CommandProse DoctorProse() {
  return {.name = "doctor",
          .summary = "Tell whether a test binary can be gated here, and if not what to do",
          .usages = {"leakgate doctor BINARY", "leakgate doctor -- BINARY [ARGS...]"},
          .description = {"None of its code runs: it is started suspended, and ended before its "
                          "first instruction."},
          .terms_lead = "Each line is of one thing",
          .terms = {{"ok", "as it should be"},
                    {"warn", "it can be gated, but a report will say less"},
                    {"no", "it cannot be gated"}},
          .exit_codes = {{"0", "it can be gated"},
                         {"2", "bad command line, or no such program"},
                         {"3", "it cannot be gated"}},
          .examples = {{"", "leakgate doctor build/my_tests"}}};
}

CommandProse ExplainProse() {
  return {
      .name = "explain",
      .summary = "Tell which budget applies to a test, and why",
      .usages = {"leakgate explain TEST [--budgets FILE|DIR] [-- BINARY [ARGS...]]"},
      .description = {"The file, each limit with its line and reason, overrides, allowances, "
                      "and how the test is judged."},
      .notes = {"TEST is the full name: Suite.Test. With the binary, which is only asked for "
                "its tests, the source file of the test takes part in the choice."},
      .exit_codes = {{"0", "explained"},
                     {"2", "bad command line or budget file, no such test, or two files claim it"}},
      .examples = {
          {"", "leakgate explain Queue.DropsWhatIsLeft --budgets tests -- build/my_tests"}}};
}

CommandProse BudgetProse() {
  return {.name = "budget",
          .summary = "Write, check and tighten budget files",
          .usages = {"leakgate budget schema",
                     "leakgate budget check FILE|DIR... [-- BINARY [ARGS...]]",
                     "leakgate budget init --component NAME [-o FILE] -- BINARY [ARGS...]",
                     "leakgate budget ratchet [--check] --budgets FILE|DIR -- BINARY [ARGS...]"},
          .notes = {"See also: leakgate explain --help"},
          .exit_lead = "that of its commands"};
}

CommandProse BudgetSchemaProse() {
  return {.name = "budget schema",
          .summary = "Print the JSON Schema of budget files, for editors",
          .usages = {"leakgate budget schema"},
          .exit_lead = "0; 2 for a bad command line",
          .examples = {{"", "leakgate budget schema > budget.schema.json"}}};
}

CommandProse BudgetCheckProse() {
  return {.name = "budget check",
          .summary = "Say what is wrong with budget files",
          .usages = {"leakgate budget check FILE|DIR... [-- BINARY [ARGS...]]"},
          .description = {"With a binary, also hold them against its tests: files that claim the "
                          "same test, patterns that match none."},
          .notes = {"A directory stands for all *.leakgate.json below it. The binary is only asked "
                    "for its tests.",
                    "Errors are bad files, conflicts and what has expired. Warnings are patterns "
                    "that match no test, and what expires within 30 days."},
          .exit_codes = {{"0", "no error"}, {"2", "an error"}},
          .examples = {{"", "leakgate budget check tests -- build/my_tests"}}};
}

CommandProse BudgetInitProse() {
  return {
      .name = "budget init",
      .summary = "Write a first budget file from a run",
      .usages = {"leakgate budget init --component NAME [-o FILE] -- BINARY [ARGS...]"},
      .description = {"Run a test binary without a budget, and write a file that allows what made "
                      "it fail: one allowance per call site."},
      .exit_codes = {{"0", "the file was written"},
                     {"2", "bad command line, no such program, or the file exists"},
                     {"3", "the run was inconclusive: nothing was written"}},
      .examples = {{"", "leakgate budget init --component queue -- build/my_tests"}}};
}

CommandProse BudgetRatchetProse() {
  return {
      .name = "budget ratchet",
      .summary = "Tighten budget files to what a green run needs",
      .usages = {"leakgate budget ratchet [--check] --budgets FILE|DIR -- BINARY [ARGS...]"},
      .description = {"Run a test binary under its budget files. If all pass, allowances and "
                      "overrides become smaller, and those that nothing used are removed. Nothing "
                      "is ever loosened; every other byte stays."},
      .notes = {"A run of some of the tests (--gtest_filter, sharding) removes nothing."},
      .exit_lead = "the run's own if it is not 0, and then nothing is changed; else",
      .exit_codes = {{"0", "tightened, or nothing to tighten"},
                     {"1", "--check: something could be tightened"},
                     {"2", "bad command line or budget file, or no such program"}},
      .examples = {{"", "leakgate budget ratchet --budgets tests -- build/my_tests"}}};
}

CommandProse MergeProse() {
  return {
      .name = "merge",
      .summary = "Make one result of many: shards, repeats, jobs",
      .usages = {"leakgate merge [OPTIONS] RESULT..."},
      .description = {"The order in which they are named does not matter, and a run that is "
                      "given twice, or again inside a merged report, counts once."},
      .notes = {"A RESULT is a JSON report of leakgate run or of leakgate merge, or a directory or "
                "zip archive: all such reports (*.json) in it, and in archives below it."},
      .exit_codes =
          {{"0", "no run failed, and all that was expected is there"},
           {"1",
            "a run failed: a window is over budget, or its program failed. With --warn-only a "
            "run fails for its program only"},
           {"2", "bad command line, or a result that cannot be read; nothing is written"},
           {"3", "inconclusive: a run was, or a shard is missing, or there is no run"}},
      .examples = {{"", "leakgate merge results -o merged.json --expect 4"}}};
}

CommandProse HistoryProse() {
  return {.name = "history",
          .summary = "Keep results over time, and show trends",
          .usages = {"leakgate history add DB RESULT... [--commit SHA] [--time TIME]",
                     "leakgate history show DB [--component NAME] [--test NAME] [--json]",
                     "leakgate history trend DB [--component|--test|--call-site] [--json]"},
          .description = {"What was outstanding at which commit, when each finding was first seen, "
                          "which tests are flaky."},
          .notes = {"DB is an SQLite file. A RESULT is as of leakgate merge."},
          .exit_lead = "0; 2 for a bad command line, result or file; 3 if DB cannot be written"};
}

CommandProse HistoryAddProse() {
  return {.name = "history add",
          .summary = "Add results to a history",
          .usages = {"leakgate history add DB RESULT... [--commit SHA] [--time TIME]"},
          .description = {"A result that DB has already is left alone, so that adding it again "
                          "does no harm. DB is made where there is none."},
          .notes = {"A RESULT is as of leakgate merge."},
          .exit_lead = "0; 2 for a bad command line, result or file; 3 if DB cannot be written",
          .examples = {{"", "leakgate history add leaks.sqlite merged.json --commit 3f2a91c"}}};
}

CommandProse HistoryShowProse() {
  return {.name = "history show",
          .summary = "Show the findings and the flaky tests of a history",
          .usages = {"leakgate history show DB [--component NAME] [--test NAME] [--json]"},
          .exit_lead = "0; 2 for a bad command line or file",
          .examples = {{"", "leakgate history show leaks.sqlite --component net"}}};
}

CommandProse HistoryTrendProse() {
  return {.name = "history trend",
          .summary = "Show what was outstanding over time, commit by commit",
          .usages = {"leakgate history trend DB [--component|--test|--call-site] [--json]"},
          .exit_lead = "0; 2 for a bad command line or file",
          .examples = {{"", "leakgate history trend leaks.sqlite --test"}}};
}

constexpr const char* kSessionExit =
    "0; 2 for a bad command line, no such session or process, or a session that exists already; 3 "
    "if it cannot be traced";

CommandProse SessionProse() {
  return {
      .name = "session",
      .summary = "Trace processes by name or PID, as long as you like",
      .usages = {"leakgate session start NAME [OPTIONS] [-- COMMAND [ARGS...]]",
                 "leakgate session exec NAME -- COMMAND [ARGS...]",
                 "leakgate session update NAME [OPTIONS]", "leakgate session query NAME [--json]",
                 "leakgate session list [--json]", "leakgate session stop NAME [-o FILE|DIR]"},
      .description =
          {"A session goes on when the command that started it has ended, until it is stopped."},
      .exit_lead = kSessionExit};
}

CommandProse SessionStartProse() {
  return {.name = "session start",
          .summary = "Start a session, and execute COMMAND below it",
          .usages = {"leakgate session start NAME [OPTIONS] [-- COMMAND [ARGS...]]"},
          .description = {"A session goes on when this command has ended, until it is stopped."},
          .exit_lead = fmt::format("{}. With COMMAND: COMMAND's", kSessionExit),
          .examples = {{"", "leakgate session start web --image nginx --image python3:server.py"},
                       {"Who frees, too",
                        "leakgate session start web --image nginx --stacks alloc,realloc,free"}}};
}

CommandProse SessionExecProse() {
  return {.name = "session exec",
          .summary = "Execute COMMAND below a session that runs",
          .usages = {"leakgate session exec NAME -- COMMAND [ARGS...]"},
          .description =
              {"It, and all that it starts, at any depth, is traced if the session names it."},
          .exit_lead = "COMMAND's; " + std::string(kSessionExit).substr(3),
          .examples = {{"", "leakgate session exec web -- make test"}}};
}

CommandProse SessionUpdateProse() {
  return {.name = "session update",
          .summary = "Change what is traced, from now on",
          .usages = {"leakgate session update NAME [OPTIONS]"},
          .exit_lead = kSessionExit,
          .examples = {{"", "leakgate session update web --drop-image nginx --add-pid 4711"}}};
}

CommandProse SessionQueryProse() {
  return {.name = "session query",
          .summary = "Show what is traced, and what each process has live",
          .usages = {"leakgate session query NAME [--json]"},
          .exit_lead = kSessionExit,
          .examples = {{"", "leakgate session query web"}}};
}

CommandProse SessionListProse() {
  return {.name = "session list",
          .summary = "Show the sessions of this user, what runs trace, and what killed ones left",
          .usages = {"leakgate session list [--json] [--clear]"},
          .exit_lead = "0; 2 for a bad command line"};
}

CommandProse SessionStopProse() {
  return {.name = "session stop",
          .summary = "End a session",
          .usages = {"leakgate session stop NAME [-o FILE|DIR]"},
          .exit_lead = kSessionExit,
          .examples = {{"", "leakgate session stop web"}}};
}

constexpr const char* kSnapshotExit =
    "0; 2 for a bad command line, no such process or session; 3 if it cannot be traced";

CommandProse SnapshotProse() {
  return {.name = "snapshot",
          .summary = "Take snapshots of a process: what is live, and who allocated it",
          .usages = {"leakgate snapshot config --pid PID|--image IMAGE enable|disable|query",
                     "leakgate snapshot take --pid PID [-o FILE] [--consistent]",
                     "leakgate snapshot periodic --pid PID --every TIME [--count K] [-o DIR]",
                     "leakgate snapshot show FILE [OPTIONS]",
                     "leakgate snapshot diff BEFORE AFTER [OPTIONS]",
                     "leakgate snapshot export FILE --format FORMAT [-o FILE] [OPTIONS]"},
          .description = {"Every live block of a process at one moment, with who allocated it. "
                          "Files are read on any machine, also after the process has gone."},
          .exit_lead = "that of its commands"};
}

CommandProse SnapshotConfigProse() {
  return {.name = "snapshot config",
          .summary = "Have a process traced from now on, or every process of an image",
          .usages = {"leakgate snapshot config --pid PID enable|disable|query",
                     "leakgate snapshot config --image IMAGE enable|disable|query"},
          .description = {"Of an image, every process is traced that is started below the session "
                          "(leakgate session exec)."},
          .exit_lead = kSnapshotExit,
          .examples = {{"", "leakgate snapshot config --pid 4711 enable"}}};
}

CommandProse SnapshotTakeProse() {
  return {.name = "snapshot take",
          .summary = "Take a snapshot; the process runs on",
          .usages = {"leakgate snapshot take --pid PID [-o FILE] [--session NAME] [--consistent]"},
          .description = {"Of a process that a session traces, or leakgate run, while it goes on: "
                          "the run's verdict stays the same."},
          .exit_lead = kSnapshotExit,
          .examples = {{"", "leakgate snapshot take --pid 4711 -o now.snapshot"}}};
}

CommandProse SnapshotPeriodicProse() {
  return {
      .name = "snapshot periodic",
      .summary = "Take a snapshot every so often, and tell what has grown, until the process ends",
      .usages = {"leakgate snapshot periodic --pid PID --every TIME [OPTIONS]"},
      .exit_lead = kSnapshotExit,
      .examples = {
          {"", "leakgate snapshot periodic --pid 4711 --every 5s --count 3 -o snapshots"}}};
}

CommandProse SnapshotShowProse() {
  return {.name = "snapshot show",
          .summary = "Show what is live in a snapshot, by who allocated it",
          .usages = {"leakgate snapshot show FILE [OPTIONS]"},
          .exit_lead = "0; 2 for a bad command line, or a file that is no whole snapshot",
          .examples = {{"", "leakgate snapshot show now.snapshot --group-by module --top 5"}}};
}

CommandProse SnapshotDiffProse() {
  return {.name = "snapshot diff",
          .summary = "Show what has appeared and gone between two snapshots, by who allocated it",
          .usages = {"leakgate snapshot diff BEFORE AFTER [OPTIONS]"},
          .exit_lead = "0; 2 for a bad command line, or a file that is no whole snapshot",
          .examples = {{"", "leakgate snapshot diff before.snapshot after.snapshot"}}};
}

CommandProse SnapshotExportProse() {
  return {.name = "snapshot export",
          .summary = "Write what is live in a snapshot for another tool",
          .usages = {"leakgate snapshot export FILE --format FORMAT [-o FILE] [OPTIONS]"},
          .exit_lead = "0; 2 for a bad command line, or a file that is no whole snapshot",
          .examples = {{"", "leakgate snapshot export now.snapshot --format=pprof -o now.pb.gz"}}};
}

CommandProse FrameworkProse() {
  return {.name = "framework",
          .summary = "Show what is counted as the test framework's own memory",
          .usages = {"leakgate framework"},
          .description = {"What GoogleTest, gmock and the C library keep for themselves is not "
                          "charged to a test."},
          .exit_lead = "0; 2 for a bad command line"};
}

CommandProse CompletionProse() {
  return {.name = "completion",
          .summary = "Print a script that has a shell complete leakgate's commands and options",
          .usages = {"leakgate completion bash|zsh|fish"},
          .description = {"An installed leakgate has them in place. Behind two dashes the program "
                          "under test is completed as it is without leakgate."},
          .exit_lead = "0; 2 for a bad command line",
          .examples = {{"In ~/.bashrc", "source <(leakgate completion bash)"},
                       {"In ~/.zshrc, behind compinit", "source <(leakgate completion zsh)"},
                       {"In ~/.config/fish/config.fish", "leakgate completion fish | source"}}};
}

CommandProse ManProse() {
  return {.name = "man",
          .summary = "Print a manual page, for man to show",
          .usages = {"leakgate man [COMMAND...]", "leakgate man -o DIR"},
          .description = {"Without a command, leakgate's own. Where leakgate is installed, man "
                          "finds them by name: leakgate-run, leakgate-budget-check."},
          .exit_lead = "0; 2 for a bad command line, or no such command",
          .examples = {{"", "leakgate man budget check | man -l -"}}};
}

}  // namespace

const std::vector<CommandProse>& AllProse() {
  static const std::vector<CommandProse> all = {LeakgateProse(),
                                                RunProse(),
                                                DoctorProse(),
                                                ExplainProse(),
                                                BudgetProse(),
                                                BudgetSchemaProse(),
                                                BudgetCheckProse(),
                                                BudgetInitProse(),
                                                BudgetRatchetProse(),
                                                MergeProse(),
                                                HistoryProse(),
                                                HistoryAddProse(),
                                                HistoryShowProse(),
                                                HistoryTrendProse(),
                                                SessionProse(),
                                                SessionStartProse(),
                                                SessionExecProse(),
                                                SessionUpdateProse(),
                                                SessionQueryProse(),
                                                SessionListProse(),
                                                SessionStopProse(),
                                                SnapshotProse(),
                                                SnapshotConfigProse(),
                                                SnapshotTakeProse(),
                                                SnapshotPeriodicProse(),
                                                SnapshotShowProse(),
                                                SnapshotDiffProse(),
                                                SnapshotExportProse(),
                                                FrameworkProse(),
                                                CompletionProse(),
                                                ManProse()};
  return all;
}

}  // namespace leakgate
