#include "runner/session/code_calls.h"

namespace leakgate {

bool CodeCalls::Answer(Mailbox& mailbox) {
  switch (static_cast<Question>(mailbox.question)) {
    case Question::kMeasure:
    case Question::kMeasureAtEnd:
      meter_.Answer(mailbox);
      return true;
    case Question::kTakeSnapshot:
      snapshots_.Take(mailbox);
      return true;
    case Question::kReadSnapshot:
      snapshots_.Read(mailbox);
      return true;
    case Question::kJudge:
    case Question::kTestBegins:
    case Question::kIterationEnds:
    case Question::kProcessEnds:
      break;
  }
  return false;
}

}  // namespace leakgate
