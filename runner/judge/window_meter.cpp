#include "runner/judge/window_meter.h"

#include <algorithm>

#include "runner/judge/allowances.h"
#include "runner/judge/settled_blocks.h"
#include "runner/judge/window_evidence.h"

namespace leakgate {
WindowMeter::WindowMeter(const RegionReader& region, Symbolizer& symbolizer, Words words)
    : region_(region),
      words_(std::move(words)),
      sites_([&region, &symbolizer](std::uint32_t stack) {
        return SymboliseStack(region, stack, symbolizer);
      }) {}

bool WindowMeter::Answer(Mailbox& mailbox) {
  const auto question = static_cast<Question>(mailbox.question);
  if (question != Question::kMeasure && question != Question::kMeasureAtEnd) return false;
  const MeasuringWindowCopy window = region_.MeasuringWindow(mailbox.subject);
  if (window.id != 0) AnswerFor(window, mailbox);
  return true;
}

void WindowMeter::AnswerFor(const MeasuringWindowCopy& window, Mailbox& mailbox) {
  const bool is_end = mailbox.question == static_cast<std::uint32_t>(Question::kMeasureAtEnd);
  const bool is_read = mailbox.text_room != 0;
  const auto findings = Measure(window, is_read ? mailbox.tid : 0);
  if (!findings) return;
  const Amount outstanding = CountedIn(*findings);
  mailbox.bytes = outstanding.bytes;
  mailbox.blocks = outstanding.blocks;
  if (is_read) WriteWords(*findings, mailbox);
  if (is_end) NoteEnd(window, outstanding);
}

void WindowMeter::WriteWords(const std::vector<Finding>& findings, Mailbox& mailbox) const {
  const std::size_t room = std::min(mailbox.text_room, Mailbox::kTextCapacity);
  const std::string text = words_(findings, room);
  mailbox.text_length = static_cast<std::uint32_t>(text.copy(mailbox.text, room));
}

Expected<std::vector<Finding>> WindowMeter::Measure(const MeasuringWindowCopy& window,
                                                    int asking_tid) {
  LEAKGATE_TRY_ASSIGN(auto blocks, ReadSettledBlocks(region_, asking_tid,
                                                     [&] { return region_.LiveBlocks(window); }));
  WindowEvidence evidence{std::move(blocks), {}};
  evidence.facts.resize(evidence.blocks.size());
  AllowByScope(region_, sites_, evidence);
  return GroupFindings(evidence.blocks, evidence.facts, sites_);
}

void WindowMeter::NoteEnd(const MeasuringWindowCopy& window, Amount outstanding) {
  if (outstanding.blocks == 0) return;
  MeasuringWindowResult& result =
      ended_[Place(window.window, window.name, window.file, window.line)];
  result.name = window.name;
  result.file = window.file;
  result.line = window.line;
  result.outstanding += outstanding;
  ++result.count;
  if (window.state == WindowState::kOpen) ++result.open_count;
}

void WindowMeter::EndAll() {
  int left = 100;  // each is a look at all that is live
  for (std::uint32_t id = 1; id < region_.MeasuringWindowCount() && left > 0; ++id) {
    const MeasuringWindowCopy window = region_.MeasuringWindow(id);
    if (window.id == 0 || window.state != WindowState::kOpen) continue;
    --left;
    const auto findings = Measure(window, 0);
    if (findings) NoteEnd(window, CountedIn(*findings));
  }
}

std::vector<MeasuringWindowResult> WindowMeter::ResultsOf(std::uint32_t window) const {
  std::vector<MeasuringWindowResult> results;
  auto ended = ended_.lower_bound(Place(window, "", "", 0));
  for (; ended != ended_.end() && std::get<0>(ended->first) == window; ++ended) {
    results.push_back(ended->second);
  }
  std::stable_sort(results.begin(), results.end(), [](const auto& a, const auto& b) {
    return a.outstanding.bytes > b.outstanding.bytes;
  });
  return results;
}

}  // namespace leakgate
