#include "runner/report/finding_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "runner/attribution/code_owner.h"
#include "runner/base/path_text.h"
#include "runner/base/word_table.h"
#include "runner/region/amount.h"
#include "runner/result/words.h"
#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

enum class Caller { kGoogleTest, kOtherTestFramework, kMain, kThreadStart, kRuntime, kUser };

bool IsThreadStart(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {
      "start_thread", "clone", "clone3", "__clone3", "execute_native_thread_routine",
      "std::thread"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view known) {
    return name == known || name.starts_with(std::string(known) + "::");
  });
}

Caller CallerOf(const Frame& frame) {
  const std::string name = ShortName(frame.function);
  if (name == "main") return Caller::kMain;
  if (name == "RUN_ALL_TESTS") return Caller::kGoogleTest;
  if (name == "_start") return Caller::kRuntime;  // the C library's, linked into the program
  if (IsThreadStart(name)) return Caller::kThreadStart;
  switch (OriginOf(frame)) {
    case FrameOrigin::kGoogleTest:
      return Caller::kGoogleTest;
    case FrameOrigin::kOtherTestFramework:
      return Caller::kOtherTestFramework;
    case FrameOrigin::kUser:
      return Caller::kUser;
    case FrameOrigin::kAgent:
    case FrameOrigin::kCLibrary:
    case FrameOrigin::kCppRuntime:
      break;
  }
  return Caller::kRuntime;
}

bool IsTestFramework(Caller caller) {
  return caller == Caller::kGoogleTest || caller == Caller::kOtherTestFramework;
}

// Returns whether the frame is of a main that called the user's code itself, and no test framework:
// then its line tells findings apart.
bool IsUsersMain(const Finding& finding, std::size_t index) {
  if (CallerOf(finding.stack[index]) != Caller::kMain || !finding.user_frame) return false;
  return std::none_of(finding.stack.begin() + std::ptrdiff_t(*finding.user_frame),
                      finding.stack.begin() + std::ptrdiff_t(index),
                      [](const Frame& frame) { return IsTestFramework(CallerOf(frame)); });
}

// Returns "GoogleTest and main". The C library always calls main, so it is left out.
std::string Describe(const std::vector<Caller>& callers) {
  const auto has = [&](Caller caller) {
    return std::find(callers.begin(), callers.end(), caller) != callers.end();
  };
  std::vector<std::string_view> words;
  if (has(Caller::kGoogleTest)) words.push_back("GoogleTest");
  if (has(Caller::kOtherTestFramework)) words.push_back("the test framework");
  if (has(Caller::kMain)) words.push_back("main");
  if (has(Caller::kThreadStart)) words.push_back("the thread's start");
  if (words.empty()) words.push_back("the C library");
  return fmt::format("{}", fmt::join(words, " and "));
}

constexpr std::size_t kMostFrames = 20;
constexpr std::size_t kWidestAlignedLabel = 60;
constexpr std::size_t kMostInnerNames = 4;

std::string FileName(const std::string& path) { return FileNameIn(path); }

// Returns the function of the frame, else its place in its module.
std::string Label(const Frame& frame) {
  std::string label =
      frame.function.empty() ? ModuleAndOffset(frame) : ReadableSignature(frame.function);
  if (label.empty()) label = "unknown function";
  if (frame.inlined) label += " [inlined]";
  return Printable(label);
}

std::string Location(const Frame& frame, const TextStyle& style) {
  if (frame.file.empty()) return Printable(frame.function.empty() ? "" : ModuleAndOffset(frame));
  const std::string file = RelativePath(frame.file, style.base_directory);
  return Printable(frame.line == 0 ? file : fmt::format("{}:{}", file, frame.line));
}

std::size_t LabelColumns(const std::vector<Frame>& stack, const std::vector<std::size_t>& shown) {
  std::size_t widest = 0;
  for (const std::size_t i : shown) {
    const std::size_t columns = Columns(Label(stack[i]));
    if (columns <= kWidestAlignedLabel) widest = std::max(widest, columns);
  }
  return widest;
}

std::string FrameLine(const Frame& frame, std::size_t label_columns, const TextStyle& style) {
  const std::string location = Location(frame, style);
  if (location.empty()) return Label(frame);
  return PadRight(Label(frame), label_columns) + "  " + location;
}

// Returns the names between the user's frame and the allocation, from the user's frame inwards.
// Repeated neighbours appear once.
std::vector<std::string> InnerNames(std::span<const Frame> inner) {
  std::vector<std::string> names;
  for (auto frame = inner.rbegin(); frame != inner.rend(); ++frame) {
    std::string name =
        frame->function.empty() ? ModuleAndOffset(*frame) : ShortName(frame->function);
    if (name.empty()) name = "unknown function";
    if (frame->wrapper != Wrapper::kNo) name += fmt::format(" [{} wrapper]", Word(frame->wrapper));
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return names;
}

// Returns "      through a, b, c, ... 3 more, z", or an empty text.
std::string InnerLine(std::span<const Frame> inner, Colour colour) {
  std::vector<std::string> names = InnerNames(inner);
  if (names.empty()) return "";
  if (names.size() > kMostInnerNames + 1) {
    const std::size_t left_out = names.size() - kMostInnerNames;
    const auto first_left_out = names.begin() + (kMostInnerNames - 1);
    names.erase(first_left_out, names.end() - 1);
    names.insert(names.end() - 1, fmt::format("... {} more", left_out));
  }
  const std::string text = Printable(fmt::format("through {}", fmt::join(names, ", ")));
  return "      " + Paint(text, Emphasis::kInTheDistance, colour) + '\n';
}

// Tells who holds the blocks, and which thread allocated them if it is not the test's own.
std::string EvidenceLines(const Finding& finding, const TextStyle& style) {
  std::string text;
  const auto add = [&](const std::string& line) {
    const std::string near = WithRelativePaths(line, style.base_directory);
    text += "    " + Paint(Printable(near), Emphasis::kInTheDistance, style.colour) + '\n';
  };
  if (!finding.led_to.empty()) {
    add(fmt::format("with {} that {}", FormatAmount(LedToSum(finding)),
                    IsLost(finding.reach) ? "only it led to" : "it leads to"));
  }
  if (!finding.holder.empty()) {
    add((IsLost(finding.reach) ? "lost with " : "held by ") + finding.holder);
  }
  if (!finding.thread.empty()) {
    add((IsMapped(finding) ? "mapped by " : "allocated by ") + finding.thread);
  }
  if (!finding.component.empty()) add("charged to " + finding.component);
  return text;
}

// Returns what the block begins with, in lines of 16 bytes: "48 69 00 00 ...  |Hi..|". Nothing is
// said of zeros at the end.
std::string ContentsLines(const Finding& finding, const TextStyle& style) {
  constexpr std::size_t kPerLine = 16;
  std::string_view hex = finding.contents;
  const std::size_t last = hex.find_last_not_of('0');
  if (last == std::string_view::npos) return "";
  hex = hex.substr(0, (last / (2 * kPerLine) + 1) * (2 * kPerLine));
  std::string lines;
  for (std::size_t at = 0; at < hex.size(); at += 2 * kPerLine) {
    std::string bytes;
    std::string text;
    for (const char* digit = hex.data() + at;
         digit + 1 < hex.data() + std::min(at + 2 * kPerLine, hex.size()); digit += 2) {
      unsigned value = 0;
      (void)std::from_chars(digit, digit + 2, value, 16);
      bytes.append(digit, 2).push_back(' ');
      text += value >= ' ' && value <= '~' ? static_cast<char>(value) : '.';
    }
    lines += "    " +
             Paint(fmt::format("{:<{}} |{}|", bytes, 3 * kPerLine, text), Emphasis::kInTheDistance,
                   style.colour) +
             '\n';
  }
  return lines;
}

// Returns whether the compiler has made the function, to call another one.
bool IsGlue(std::string_view function) {
  return function.ends_with("::_FUN") || function.find("::_FUN(") != std::string_view::npos ||
         function.find("thunk to ") != std::string_view::npos ||
         function.starts_with("_GLOBAL__sub_I_");
}

// Returns whether a frame outward of the call site is folded away: it is of the C++ library, of a
// test framework or of the compiler's making.
bool IsFolded(const Frame& frame) {
  const Caller caller = CallerOf(frame);
  return caller == Caller::kRuntime || IsTestFramework(caller) || IsGlue(frame.function);
}

std::string_view WhyCut(UnwindEnd end) {
  switch (end) {
    case UnwindEnd::kOutermost:
      return "";
    case UnwindEnd::kDepthLimit:
      return "depth limit (--stack-depth)";
    case UnwindEnd::kNoUnwindInfo:
      return "the caller has no unwind information";
    case UnwindEnd::kBadUnwindInfo:
      return "unwind information that leakgate cannot read";
    case UnwindEnd::kUnreadableStack:
      return "stack memory that could not be read";
    case UnwindEnd::kNotAStack:
      return "the stack pointer leads nowhere";
    case UnwindEnd::kTableFull:
      return "the stack table is full";
    case UnwindEnd::kNotTaken:
      return "stack not taken (--stacks)";
  }
  return "unknown reason";
}

std::string FramesText(std::size_t frames, std::string_view noun) {
  return "... " + FormatCount(static_cast<std::int64_t>(frames), noun);
}

std::string LeftOutLine(std::size_t frames, Colour colour) {
  return "    " + Paint(FramesText(frames, "more frame"), Emphasis::kInTheDistance, colour) + '\n';
}

std::string OuterLines(const Finding& finding, FrameRange left_out, const OuterFrames& outer,
                       Colour colour) {
  std::string text;
  if (left_out.begin < left_out.end) text += LeftOutLine(left_out.end - left_out.begin, colour);
  const auto add = [&](const std::string& line) {
    text += "    " + Paint(line, Emphasis::kInTheDistance, colour) + '\n';
  };
  const std::size_t outer_count = finding.stack.size() - outer.begin;
  if (outer_count != 0) {
    add(fmt::format("{} of {}", FramesText(outer_count, "frame"), outer.description));
  }
  if (finding.stack_end != UnwindEnd::kOutermost) {
    add(fmt::format("... the stack is cut here: {}", WhyCut(finding.stack_end)));
  }
  return text;
}

// Returns whether two frames read the same.
bool ReadsTheSame(const Frame& a, const Frame& b) {
  return a.function == b.function && a.file == b.file && a.line == b.line &&
         (!a.file.empty() || (a.module == b.module && a.module_offset == b.module_offset));
}

constexpr std::array kReachWords = {
    Named{Reach::kUnknown, ""},
    Named{Reach::kLost, "lost"},
    Named{Reach::kIndirectlyLost, "lost with what led to it"},
    Named{Reach::kRetained, "retained"},
};
constexpr std::array kFates = {
    Named{Disposition::kOutstanding, ""},
    Named{Disposition::kFramework, ""},
    Named{Disposition::kAllowed, "allowed"},
    Named{Disposition::kOtherThread, "another thread's"},
    Named{Disposition::kReplaced, "replaced"},
    Named{Disposition::kReleasedLater, "freed later"},
    Named{Disposition::kOneTime, "one-time initialisation"},
    Named{Disposition::kBounded, "bounded"},
    Named{Disposition::kSteady, "grows"},
    Named{Disposition::kUnconfirmed, "unconfirmed"},
    Named{Disposition::kKnown, "known from baseline"},
};

// The values of a long series are summed up by the explanation.
constexpr std::size_t kMostValues = 5;

std::string ValuesText(const std::vector<std::int64_t>& series,
                       std::string (*format)(std::int64_t)) {
  const std::size_t count = std::min(series.size(), kMostValues);
  std::vector<std::string> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(format(series[i]));
  return fmt::format("{}", fmt::join(values, " "));
}

std::string WithSign(std::int64_t blocks) { return fmt::format("{:+}", blocks); }

std::string BytesWithSign(std::int64_t bytes) {
  return (bytes < 0 ? "" : "+") + FormatBytes(bytes);
}

std::string_view NounOf(AllocationKind kind) {
  if (kind == AllocationKind::kThreadStack) return "thread";
  return IsMapped(kind) ? "mapping" : "block";
}

// Returns " by 1 block each time", " by 1 to 3 blocks each time" or " by 64 B each time"; an empty
// text if it does not grow each time.
std::string StepText(const Finding& finding) {
  if (finding.disposition != Disposition::kSteady || finding.series.empty()) return "";
  const auto [fewest, most] = std::minmax_element(finding.series.begin(), finding.series.end());
  const std::string_view noun = NounOf(finding.kind);
  if (*fewest > 0 && *fewest == *most) {
    return fmt::format(" by {} each time", FormatCount(*most, noun));
  }
  if (*fewest > 0) return fmt::format(" by {} to {} each time", *fewest, FormatCount(*most, noun));
  if (*fewest != 0 || *most != 0 || finding.series_bytes.empty()) return "";
  const auto [least, largest] =
      std::minmax_element(finding.series_bytes.begin(), finding.series_bytes.end());
  if (*least <= 0) return "";
  if (*least == *largest) return fmt::format(" by {} each time", FormatBytes(*largest));
  return fmt::format(" by {} to {} each time", FormatBytes(*least), FormatBytes(*largest));
}

std::string SeriesText(const Finding& finding) {
  if (finding.series.empty()) return "";
  if (std::string step = StepText(finding); !step.empty()) return step;
  std::string text =
      fmt::format(", repeated: {} {}s", ValuesText(finding.series, WithSign), NounOf(finding.kind));
  if (GrowsInBytesAlone(finding)) {
    text += ", " + ValuesText(finding.series_bytes, BytesWithSign);
  }
  return text;
}

}  // namespace

namespace {

// Which frames of a stack have a line of their own.
struct ShownFrames {
  std::vector<std::size_t> frames;  // indices, from the innermost
  std::size_t begin = 0;  // of what is told: frames from here on that have no line are named
  std::size_t end = 0;    // from here on they are only counted
};

// The user's frames have a line, and of the others those that tell the finding from another one.
ShownFrames ShowFrames(const Finding& finding, const OuterFrames& outer, FrameRange telling) {
  const std::size_t own = finding.user_frame.value_or(0);
  const bool shows_inner = telling.begin < std::min(own, telling.end);
  ShownFrames shown;
  shown.begin = shows_inner ? telling.begin : 0;
  shown.end = std::min(outer.begin, own + kMostFrames);
  for (std::size_t i = shows_inner ? telling.begin : own; i < shown.end; ++i) {
    const bool is_telling = telling.begin <= i && i < telling.end;
    const bool is_folded = finding.user_frame && i > own && IsFolded(finding.stack[i]);
    if (is_telling || !is_folded) shown.frames.push_back(i);
  }
  const std::size_t more = std::max(shown.end, telling.begin);
  for (std::size_t i = more; i < std::min(telling.end, more + kMostFrames); ++i) {
    shown.frames.push_back(i);
  }
  return shown;
}

}  // namespace

bool GrowsInBytesAlone(const Finding& finding) {
  for (std::size_t i = 0; i < std::min(finding.series.size(), finding.series_bytes.size()); ++i) {
    if (finding.series_bytes[i] > 0 && finding.series[i] <= 0) return true;
  }
  return false;
}

bool IsOuterFrame(const Frame& frame) { return CallerOf(frame) != Caller::kUser; }

std::string ModuleAndOffset(const Frame& frame) {
  if (frame.module.empty()) return "";
  return fmt::format("{}+{:#x}", FileName(frame.module), frame.module_offset);
}

OuterFrames FindOuterFrames(const Finding& finding) {
  const std::size_t first_candidate = finding.user_frame.value_or(0) + 1;
  std::size_t begin = finding.stack.size();
  std::vector<Caller> callers;
  while (begin > first_candidate) {
    const Caller caller = CallerOf(finding.stack[begin - 1]);
    if (caller == Caller::kUser || IsUsersMain(finding, begin - 1)) break;
    callers.push_back(caller);
    --begin;
  }
  return {begin, Describe(callers)};
}

std::string StackText(const Finding& finding, const TextStyle& style, FrameRange telling) {
  const OuterFrames outer = FindOuterFrames(finding);
  const ShownFrames shown = ShowFrames(finding, outer, telling);
  const std::size_t columns = LabelColumns(finding.stack, shown.frames);
  const std::span<const Frame> stack(finding.stack);

  std::string text;
  std::size_t next = shown.begin;
  for (const std::size_t i : shown.frames) {
    const std::span<const Frame> between = stack.subspan(next, i - next);
    if (i >= shown.end && !between.empty()) text += LeftOutLine(between.size(), style.colour);
    const bool is_own = finding.user_frame == i;
    const std::string line = FrameLine(stack[i], columns, style);
    text += is_own ? "  > " + Paint(line, Emphasis::kOwnFrame, style.colour) : "    " + line;
    text += '\n';
    if (i < shown.end) text += InnerLine(between, style.colour);
    next = i + 1;
  }
  next = std::max(next, std::min(shown.end, outer.begin));
  OuterFrames rest = outer;
  rest.begin = std::max(outer.begin, next);
  return text + OuterLines(finding, {std::min(next, rest.begin), rest.begin}, rest, style.colour);
}

std::string FindingText(const Finding& finding, const TextStyle& style, FrameRange telling) {
  const std::string fate = FateText(finding);
  const std::string heading = fmt::format(
      "{}, {}{}{}", IsMapped(finding) ? FormatMapped(finding.amount) : FormatAmount(finding.amount),
      Word(finding.kind), fate.empty() ? "" : ", ", Printable(fate));
  const std::string stack = finding.stack.empty() ? "    no call stack was recorded\n"
                                                  : StackText(finding, style, telling);
  return "  " + Paint(heading, Emphasis::kHeading, style.colour) + '\n' +
         EvidenceLines(finding, style) + ContentsLines(finding, style) + stack;
}

FrameRange FindDifferingFrames(const Finding& finding, const Finding& other) {
  const std::vector<Frame>& a = finding.stack;
  const std::vector<Frame>& b = other.stack;
  const auto inner = std::mismatch(a.begin(), a.end(), b.begin(), b.end(), ReadsTheSame).first;
  if (inner == a.end() && a.size() == b.size()) return {};
  const auto outer = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend(), ReadsTheSame).first;
  const auto begin = static_cast<std::size_t>(inner - a.begin());
  const auto end = static_cast<std::size_t>(outer.base() - a.begin());
  // One stack may be a part of the other, as of a recursion.
  return {std::min(begin, end), std::max(begin, end)};
}

std::string WithRelativePaths(std::string text, const std::string& base_directory) {
  if (base_directory.size() <= 1) return text;
  const std::string prefix = base_directory + "/";
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
    const bool begins_path = at == 0 || text[at - 1] == '(' || text[at - 1] == ' ';
    if (begins_path) {
      text.erase(at, prefix.size());
    } else {
      ++at;
    }
  }
  return text;
}

std::string RelativePath(std::string_view path, const std::string& base_directory) {
  const std::filesystem::path normal = PathOf(path).lexically_normal();
  if (base_directory.empty() || !IsAbsolutePath(path)) return std::string(path);
  const std::filesystem::path base = PathOf(base_directory).lexically_normal();
  if (base == base.root_path()) return PathText(normal);
  const std::filesystem::path relative = normal.lexically_relative(base);
  const bool is_below = !relative.empty() && *relative.begin() != ".." && relative != ".";
  return PathText(is_below ? relative : normal);
}

namespace {

// Returns the frames that tell a finding from the first other one whose stack would read the same.
FrameRange TellingFrames(const std::vector<const Finding*>& findings, std::size_t index,
                         std::size_t shown, const TextStyle& style) {
  const std::string text = StackText(*findings[index], style);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i == index || StackText(*findings[i], style) != text) continue;
    const FrameRange telling = FindDifferingFrames(*findings[index], *findings[i]);
    if (telling.begin != telling.end) return telling;
  }
  return {};
}

}  // namespace

std::string FirstFindingsText(const std::vector<const Finding*>& findings, std::string_view noun,
                              const TextStyle& style) {
  constexpr std::size_t kMostShown = 10;
  const std::size_t shown = std::min(findings.size(), kMostShown);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    text += FindingText(*findings[i], style, TellingFrames(findings, i, shown, style));
  }
  if (shown == findings.size()) return text;

  Amount left_out;
  for (std::size_t i = shown; i < findings.size(); ++i) left_out += findings[i]->amount;
  const auto count = static_cast<std::int64_t>(findings.size() - shown);
  return text + fmt::format("  and {} ({}); all are in the JSON report\n", FormatCount(count, noun),
                            FormatBytes(left_out.bytes));
}

std::string FateText(const Finding& finding) {
  std::string text = WordIn(kReachWords, finding.reach);
  const std::string_view disposition = WordIn(kFates, finding.disposition);
  if (!disposition.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", disposition);
  text += SeriesText(finding);
  if (!finding.explanation.empty()) text += fmt::format(" ({})", finding.explanation);
  return text;
}

}  // namespace leakgate
