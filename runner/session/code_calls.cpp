#include "runner/session/code_calls.h"

#include "runner/session/linux/snapshot_on_request.h"

namespace leakgate {

bool CodeCalls::Answer(Mailbox& mailbox) {
  switch (static_cast<Question>(mailbox.question)) {
    case Question::kMeasure:
    case Question::kMeasureAtEnd:
      meter_.Answer(mailbox);
      return true;
    case Question::kTakeSnapshot:
      AnswerSnapshot(region_, mailbox);
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
