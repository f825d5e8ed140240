#include <string_view>

#include "runner/host/mailbox_server.h"

namespace leakgate {

void AnswerWithinBudget(Mailbox& mailbox) {
  mailbox.over_budget = 0;
  mailbox.text_length = 0;
  mailbox.file_length = 0;
  mailbox.line = 0;
  mailbox.bytes = mailbox.blocks = -1;
}

AnswerMore AnswererFor(const MakeAnswerer& make, const RegionReader& region) {
  if (make) return make(region);
  return [](Mailbox& mailbox) {
    const auto question = static_cast<Question>(mailbox.question);
    if (question == Question::kTakeSnapshot) {
      constexpr std::string_view kRefusal =
          "cannot take the snapshot: this leakgate was built without the profiler; build it with "
          "-DLEAKGATE_PROFILER=ON";
      mailbox.text_length =
          static_cast<std::uint32_t>(kRefusal.copy(mailbox.text, Mailbox::kTextCapacity));
    }
    return question == Question::kTakeSnapshot || question == Question::kReadSnapshot;
  };
}

}  // namespace leakgate
