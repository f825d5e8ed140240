#include "runner/report/progress_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/region/amount.h"
#include "runner/report/style.h"

namespace leakgate {
namespace {

constexpr std::size_t kBarColumns = 20;

// Returns "1200 of 5000 tests".
std::string Count(const Progress& progress, std::string_view noun) {
  if (!progress.all) return FormatCount(progress.done, noun);
  return fmt::format("{} of {}", progress.done, FormatCount(*progress.all, noun));
}

std::string WhatIsDone(const Progress& progress) {
  switch (progress.stage) {
    case ProgressStage::kProgram:
      return "running";
    case ProgressStage::kTests:
      return Count(progress, "test");
    case ProgressStage::kConfirming:
      return "confirming " + Count(progress, "test");
    case ProgressStage::kReading:
      return "read " + Count(progress, "result");
    case ProgressStage::kWriting:
      break;
  }
  return "written " + Count(progress, "run");
}

std::string ElapsedText(std::chrono::seconds elapsed) {
  const std::int64_t seconds = elapsed.count();
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
}

std::string Facts(const Progress& progress, std::chrono::seconds elapsed) {
  std::string text = WhatIsDone(progress);
  if (progress.over_budget > 0) text += fmt::format(", {} over budget", progress.over_budget);
  return text + ", " + ElapsedText(elapsed);
}

std::string BarOf(const Progress& progress) {
  if (!progress.all || *progress.all <= 0) return "";
  // The last test that is being confirmed has only begun.
  const std::int64_t ended = progress.done - (progress.stage == ProgressStage::kConfirming ? 1 : 0);
  const std::int64_t done = std::clamp<std::int64_t>(ended, 0, *progress.all);
  const auto filled =
      static_cast<std::size_t>(static_cast<std::int64_t>(kBarColumns) * done / *progress.all);
  return '[' + std::string(filled, '#') + std::string(kBarColumns - filled, '.') + "] ";
}

// Returns the first `columns` of a printable text.
std::string Cut(std::string text, std::size_t columns) {
  while (Columns(text) > columns) {
    // The further bytes of a character are kept with its first.
    while ((static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) text.pop_back();
    text.pop_back();
  }
  return text;
}

}  // namespace

std::string ProgressLine(const Progress& progress, std::chrono::seconds elapsed) {
  return "leakgate: " + Facts(progress, elapsed);
}

std::string ProgressBar(const Progress& progress, std::chrono::seconds elapsed,
                        std::size_t columns) {
  std::string text = "leakgate: " + BarOf(progress) + Facts(progress, elapsed);
  if (Columns(text) > columns) text = ProgressLine(progress, elapsed);
  if (!progress.current.empty()) text += "  " + Printable(progress.current);
  return Cut(std::move(text), columns);
}

}  // namespace leakgate
