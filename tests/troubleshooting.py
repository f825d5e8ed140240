#!/usr/bin/env python3
"""Looks for an entry in docs/troubleshooting.md for each message that leakgate can print.

A message is a string literal in the sources of three words or more (one, inside an error):
anywhere inside UsageError(..), InconclusiveError(..), Failure(..) or Error{..}, and all those of the files
that tell why a run is inconclusive, unconfirmed or warned of (SOURCES); and each FATAL_ERROR of
the CMake package. What is no message is named in OTHER_FILES and OTHER_TEXTS, so that a new one
cannot go without an entry.

An entry is a code span in the first cell of a table's row: a piece of the message that is enough to
know it by, mostly its beginning, without the remedy that the message itself gives. A word in
capitals stands for any text, and so does "...". A message that says itself what to do, behind a
semicolon, needs none. For messages about budget files, the tables of
docs/budgets.md count, too, which have whole messages. An entry that no source prints any more is a
fault as well.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["docs/troubleshooting.md", "docs/budgets.md"]
SOURCES = ["runner/attach", "runner/attribution/read_suppressions.cpp", "runner/budget", "runner/cli", "runner/heap_tracing", "runner/host", "runner/judge", "runner/main.cpp",
           "runner/process", "runner/reach", "runner/recording/event_recorder.cpp", "runner/recording/file", "runner/report/finding_text.cpp", "runner/report/json",
           "runner/report/report_format.cpp", "runner/report/summary_text.cpp", "runner/results/budgets", "runner/results/find_results.cpp",
           "runner/results/linux", "runner/results/result_text.cpp", "runner/results/merge_verdict.cpp", "runner/results/merged_runs.cpp",
           "runner/results/result_file.cpp", "runner/archive", "runner/run", "runner/profiling", "runner/sessions",
           "runner/snapshot/file", "runner/snapshot/view/make_bundle.cpp", "runner/snapshot/view/show_bundle.cpp",
           "runner/base/linux/atomic_file.cpp", "runner/base/linux/file_place.cpp", "runner/base/time_limit.cpp",
           "runner/region/damage.cpp", "plugin/listener",
           "plugin/include/leakgate/test_framework.h"]
# What they print is what was asked for, not a message; doctor's lines say themselves what to do, or docs/windows.md does.
OTHER_FILES = {"doctor.cpp", "doctor_checks.cpp", "self_test.cpp", "self_test_child.cpp", "self_test_heap_tracing.cpp", "self_test_profiling.cpp", "self_test_stacks.cpp", "self_test_system.cpp",
               "help_text.cpp", "command_prose.cpp", "man_page.cpp",
               "completion_bash.cpp", "completion_zsh.cpp", "completion_fish.cpp",
               "explain.cpp", "documents.cpp", "history_text.cpp",
               "process_resources.cpp", "budget_init.cpp", "initial_budget.cpp", "installation.cpp", "session_text.cpp", "flag_list.cpp", "tracing_prose.cpp",
               "snapshot_take.cpp"}
OTHER_TEXTS = {
    # what a session on Windows has done, a value of the registry, and where such are
    "leakgate: Windows traces the heaps of {1} that starts from now on\n{2}  end the session:   leakgate session stop {0}{3}",
    "have it recorded:  wpr -start Heap -filemode", "{} bytes of type {}", "Windows Performance Toolkit",
    "SOFTWARE\\Microsoft\\Windows Kits\\Installed Roots",
    # commands for Windows' next start
    'rem As administrator. The file of the recording stays.\nlogman stop "leakgate-{0}" -ets\nreg delete "{1}" /f\n'
    "leakgate session stop {0}",
    "rem As administrator. Windows records from its next start on.\nleakgate session start {}{}",
    "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Image File Execution Options",
    # a part of a message that says what to do
    "it has too many bytes", "it is no journal of leakgate's", "its folder of symbols cannot be put beside it",
    "it has several processes", "PID {} is not in it", "two processes with one PID", "it is a link",
    # what a recording of Windows has
    "{}: {} live at the end, by {} call stack{}", "--top {} shows all", "no call stack",
    "incomplete: {}\n  what is shown may have been freed", "from before the recording, or without a stack: {}",
    # a part of a message that says what to do
    "another processor (machine 0x{:x})", "of an unknown program",
    # the beginning of a unit
    "[Unit]\nDescription=leakgate traces {} in the session {}\nDocumentation=man:leakgate-session-start(1)",
    # what test frameworks, leakgate's headers and their frames are known by
    "leakgate-listener-1 Catch2", "leakgate-listener-1 doctest", "leakgate-listener-1 Boost.Test",
    'doctest version is "', "the test framework",
    # why a file is no history; the rest of the message says what to do
    "not a regular file",
    # what ends the reading of a recording, and is never printed
    "nobody reads on", "read far enough",
    # what a bundle of snapshots is, and what was written
    "an unknown program", "leakgate: {0}: {1}\n  look at it:  leakgate snapshot show {0}",
    # how a block is held
    "by a pointer that is not aligned", "by a pointer with a tag in its bits",
    "by a pointer that is shifted, swapped, complemented, tagged or in halves", "by a pointer one past the end",
    "by a pointer that EncodePointer or the C runtime has encoded",
    "by a pointer in front of its begin", "what the code has leak checkers ignore", "a context saved on a signal stack",
    "only what the code has leak checkers ignore leads to it", "that leakgate did not see allocated",
    # a call site, a block, or why one passes
    "only it led to", "it leads to",
    "an unknown call site", "no call stack was recorded", "more than {} permits: {} for {}",
    "{} here, {} in the baseline", "{} of this call stack freed meanwhile",
    "made by what runs once: the initialiser of a static variable",
    "each repetition replaces it", "it does not grow in {} repetitions", "in {} repetitions it goes up and down",
    "it stops growing after repetition {} of {}", ", all stacks of this line together",
    "in {} repetitions it grew by {}{}", "{} in {} repetitions by {}{}", "by {} each time",
    "in {} repetitions all call sites together grew by {}: {}", "the suite's run left none of it",
    ", but it is freed in time", "by {} to {} each time",
    "freed by its suite's tear-down", "freed before the iteration ended", "freed by the program's end",
    "freed twice, by {}", "{} B allocated by {} and freed by {}",
    "lost with what led to it", "one-time initialisation", "known from baseline",
    # what holds a block
    "pipe of descriptor {}", "socket of descriptor {}", "file of descriptor {}", "message queue of descriptor {}",
    "io_uring of descriptor {}", ", whose bytes cannot be read,",
    "a thread-local of {}", "memory that is gone", "an anonymous mapping ({:#x}-{:#x})", "the stack of {}",
    "a block being reallocated by {}", "perhaps a register of thread {} '{}', which waits in a system call",
    "not known, since threads woke whenever it was looked at",
    # parts of a message that has its entry
    "{}: {}; correct it, or leave the file out",
    "did you mean {}?", "did you mean '{}'?", "an array of strings", "an array of objects",
    "missing closing quote", "must be escaped", "unexpected end of input", "expected end of input",
    "a whole number", "true or false", "a whole number from 0 on", "a whole number of 64 bits",
    "'{}': write {}", "a number of seconds", "the thread's start", "nothing came in time", "--view tree or --view table", "the run with PID {}", "the session's owner",
    "what was allocated before {:%Y-%m-%d %H:%M:%S} UTC, when tracing began",
    "a number from 0 on", "make it writable or name another file",
    "make its directory writable with room for it, or name another file", "name a file in it",
    "compile the file that defines malloc without inlining (-fno-inline)", "create it first", "list them with --gtest_list_tests",
    "{}:{}: the override for {}", "{}:{}: the allowance for {}",
    "the program under test has that name, but neither it nor its death tests are meant: "
    "name what its tests start",
    "correct the name (that of the executable file, links resolved; of a script, its interpreter's), "
    "or have the tests run that start it",
    # what CLI11 says, which is told in our words
    ": At Most 1 required but received", ". The session '{}' goes on",
    # what --help says
    "The version, and how it was built",
    # figures and results
    "a second   {} allocated, {} freed", "no process yet", "more call site",
    "GROWTH        LAST        LIVE    BLOCKS  {}CALL SITE",
    "{} ran in its process before: see {}*", "look at it:  leakgate recording show {}",
    "framework {} not counted", "leakgate: {}{}; gating took {}{} of {}{}",
    "... {} more lines", "--verbose and the reports tell each in full", "--verbose lists all failing tests",
    "the merged report has each", "green with it, {} times in a row", "running again with {}, {} {}",
    "{}: left out {} that no GoogleTest binary runs", "leakgate: {}: nothing had to be accepted",
    "has to accept nothing", "the budgets and the baseline",
    "the baseline has what no component's budget can: freeing errors, descriptors, and what the program or a test "
    "from elsewhere leaves",
    "the baseline has what no suppression covers, and what no budget can have: freeing errors, descriptors, and what "
    "the program leaves",
    "{}: proved: {} bytes that were planted in {} failed it", "in another order:",
    "Keep the file in version control. From now on only what is new fails:",
    "Keep the files in version control. From now on only what is new fails:",
    "The tests leave nothing behind, and whatever they leave from now on fails:",
    "and the same for {} more binar{}",
    "In CMakeLists.txt, each test gated:\n  leakgate_discover_tests(TARGET", "LEAKGATE_ARGS --baseline",
    "the gate stays inconclusive",
    "{}: for {}; the reports have all", "(did you mean {}?)", "the JSON report has each",
    "and {} ({}); all are in the JSON report",
    "{} given again, counted once", "{} more, which the runs name", "and more tests",
    "{} known from baseline ({})", "{}:{}: {} removed: nothing used it", "ok: component {}, {}, {}",
    "leakgate: budget files: {}, errors: {}, warnings: {}{}",
    # where the remedy is
    "see leakgate help budgets", "see leakgate help troubleshooting", "what helps: leakgate help troubleshooting",
    "runs added to {}: {}; there already: {}",
}
# Messages of few words, or in files that print much else.
FURTHER = {"{} is for {} only, and left out; name the binary: leakgate explain TEST ... -- BINARY":
               "runner/cli/commands/explain.cpp",
           "wrote {}; fix what it allows, or write why it stays; then: leakgate run --budgets {} -- {}":
               "runner/cli/commands/budget_init.cpp",
           "{} still fails: no entry allows its freeing errors; mend them":
               "runner/results/budgets/initial_entries.cpp",
           "{} still fails: {} of {} cannot be allowed, as no function of its call stack is known; "
           "build the program with symbols": "runner/results/budgets/initial_entries.cpp",
           "{} ({}) is not taken over: {}": "runner/attribution/suppressions.cpp",
           "internal error: {}": "runner/main.cpp", "still traced: {}": "runner/cli/profiler/session.cpp",
           "not recorded: {}": "runner/report/summary_text.cpp",
           "kernel.yama.ptrace_scope is {}: set it to 1": "runner/run/linux/doctor.cpp",
           "no test boundaries, so only the program was judged": "runner/report/window_text.cpp"}
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?P<text>(?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\])+\''
                   r"|(?P<word>\d(?:'?\w)*|\w+)" r'|(?P<space>\s+)|.', re.S)
ERRORS = {"UsageError", "InconclusiveError", "Error", "Failure"}
HELP = {"Add", "AddChoice", "AddEach", "AddFlag", "AddOnce", "GeneralOptions"}  # what they are given, --help prints


def unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), text).strip(" \n;")


def literals_of(source: str) -> list[tuple[str, int, bool]]:
    """Each string literal that is no help, with its line, and whether it is inside an error."""
    found, parts, line, depth, error_depths, help_depths, last_word = [], [], 0, 0, [], [], ""
    for token in TOKEN.finditer(source):
        if token["text"] is not None:
            line = line if parts else source.count("\n", 0, token.start()) + 1
            parts.append(token["text"])
            continue
        if token["space"] or token[0].startswith(("//", "/*")):
            continue
        if parts:
            if not help_depths:
                found.append((unescaped("".join(parts)), line, bool(error_depths)))
            parts = []
        if token[0] in "({":
            depth += 1
            if last_word in ERRORS:
                error_depths.append(depth)
            if last_word in HELP:
                help_depths.append(depth)
        elif token[0] in ")}":
            if error_depths and error_depths[-1] == depth:
                error_depths.pop()
            if help_depths and help_depths[-1] == depth:
                help_depths.pop()
            depth -= 1
        last_word = token["word"] or ""
    return found


def words_in(text: str) -> int:
    return len(re.findall(r"[A-Za-z]{2,}", re.sub(r"\{[^{}]*\}|%\w", " ", text)))


def messages() -> dict[str, str]:
    """Each message, and where it stands."""
    found = {}
    for top in ("runner", "plugin"):
        for path in sorted((ROOT / top).rglob("*")):
            name = str(path.relative_to(ROOT))
            if path.suffix not in (".cpp", ".h"):
                continue
            is_source = path.name not in OTHER_FILES and any(
                name == folder or name.startswith(folder + "/") for folder in SOURCES)
            for text, line, is_error in literals_of(path.read_text()):
                if text in OTHER_TEXTS or " " not in text or "%%" in text:
                    continue
                if words_in(text) >= (1 if is_error else 3) and (is_error or is_source):
                    found.setdefault(text, f"{name}:{line}")
    for path in sorted((ROOT / "cmake").glob("*.cmake")):
        for arguments in re.findall(r'FATAL_ERROR((?:\s*"[^"]*")+)\)', path.read_text()):
            text = "".join(re.findall(r'"([^"]*)"', arguments))
            text = re.sub(r"\$\{\w+\}", "{}", text.removesuffix("\\n${output}"))
            found.setdefault(text, str(path.relative_to(ROOT)))
    for text, name in FURTHER.items():
        if any(text == literal for literal, _, _ in literals_of((ROOT / name).read_text())):
            found.setdefault(text, name)
    words = (ROOT / "runner/region/region_words.h").read_text()
    for word in set(re.findall(r'Named\{(?:DropReason|UnwindEnd)::\w+, "(\w+)"\}', words)):
        if word != "outermost":  # which is complete
            found.setdefault(word, "runner/region/region_words.h")
    return found


def entries_of(page: str) -> list[str]:
    rows = re.findall(r"^\| *(.*?) *\|", (ROOT / page).read_text(), flags=re.M)
    spans = [span for row in rows for span in re.findall(r"``(.+?)``|`([^`]+)`", row)]
    cells = [double or single for double, single in spans]
    if page == PAGES[0]:
        return [cell.strip() for cell in cells]
    text = (ROOT / page).read_text()
    return [*cells, *re.findall(r"`([^`\n]+)` \|$", text, flags=re.M)]


def pattern_of(message: str) -> re.Pattern[str]:
    """What an entry with the whole message must hold: words where the message has "{}"."""
    text = message.replace("{{", "\0").replace("}}", "\1")
    pieces = re.split(r"\{[^{}]*\}|%s", text)
    pieces = [re.escape(piece.replace("\0", "{").replace("\1", "}")) for piece in pieces]
    return re.compile(".*?".join(pieces))


def is_piece(entry: str, message: str) -> bool:
    """Whether the entry is a piece of the message: two words of it at least, or all of it."""
    pieces = re.split(r"\.\.\.|\b[A-Z]+\b", entry)
    found = re.search(".*?".join(re.escape(piece) for piece in pieces),
                      message.replace("{{", "{").replace("}}", "}"))
    return found is not None and (words_in(" ".join(pieces)) >= 2 or found[0] == message)


def main() -> None:
    argparse.ArgumentParser(description=__doc__,
                            formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    known = messages()
    entries, in_budgets = (entries_of(page) for page in PAGES)
    has_entry = {message for message in known
                 if any(is_piece(entry, message) for entry in entries)
                 or any(pattern_of(message).search(entry) for entry in in_budgets)}
    problems = [f'{where}: no entry in {PAGES[0]} for "{message}"'
                for message, where in known.items() if message not in has_entry and ";" not in message]
    problems += [f'{PAGES[0]}: nothing prints "{entry}"' for entry in entries
                 if not any(is_piece(entry, message) for message in known)]
    print(f"troubleshooting: {len(known)} messages, {len(entries)} entries, {len(problems)} problems")
    for problem in problems:
        print(f"  {problem}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
