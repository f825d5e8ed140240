#include "runner/run/operator_probe.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runner/host/mailbox_server.h"
#include "runner/region/region_file.h"

namespace leakgate {
namespace {

// The images of the process: a shell that executes the program is one, too.
class ProbedImages {
 public:
  explicit ProbedImages(std::uint32_t stack_depth) : stack_depth_(stack_depth) {}

  // Called on the control server's thread.
  int RegionFor(int pid) {
    auto region = RegionFile::Create({.pid = pid,
                                      .generation = static_cast<std::uint32_t>(images_.size()) + 1,
                                      .stack_depth = stack_depth_});
    if (!region) return -1;
    (*region)->Ask(kAskToProbe | kAskNoVerdicts | kHasNoTests);
    images_.push_back(std::make_unique<Image>(*std::move(region), [this](OperatorAccount account) {
      const std::lock_guard lock(mutex_);
      account_ = std::move(account);
    }));
    return images_.back()->region->fd().get();
  }

  // REQUIRES: the process and the control server have ended.
  OperatorAccount Take() {
    images_.clear();
    return std::move(account_);
  }

 private:
  struct Image {
    Image(std::unique_ptr<RegionFile> of, std::function<void(OperatorAccount account)> take)
        : region(std::move(of)),
          server(region->mailbox(), [this, take = std::move(take)](Mailbox& mailbox) {
            const std::vector<ProbedObject> probed = ObjectsIn(mailbox);
            const bool is_it =
                mailbox.question == static_cast<std::uint32_t>(Question::kOperatorsProbed);
            AnswerWithinBudget(mailbox);
            if (!is_it) return;
            Variables variables;
            Expected<OperatorAccount> account = LearnAccount(probed, {.pid = region->pid(),
                                                                      .region = region->reader(),
                                                                      .candidates = {},
                                                                      .variables = variables,
                                                                      .asking_tid = mailbox.tid});
            if (account) take(*std::move(account));
          }) {}

    static std::vector<ProbedObject> ObjectsIn(const Mailbox& mailbox) {
      const std::size_t bytes = std::min(mailbox.text_length, Mailbox::kTextCapacity);
      std::vector<ProbedObject> objects(bytes / sizeof(ProbedObject));
      if (!objects.empty()) {
        std::memcpy(objects.data(), mailbox.text, objects.size() * sizeof(ProbedObject));
      }
      return objects;
    }

    std::unique_ptr<RegionFile> region;
    MailboxServer server;
  };

  const std::uint32_t stack_depth_;
  std::mutex mutex_;
  OperatorAccount account_;
  std::vector<std::unique_ptr<Image>> images_;
};

}  // namespace

const OperatorAccount& OperatorProbe::Account() {
  if (account_) return *account_;
  if (setup_.request.confirm == Confirm::kOff) return account_.emplace();
  // The program's own static initialisers took no longer than it has run.
  constexpr std::chrono::seconds kLeast(5);
  constexpr std::chrono::seconds kMost(20);
  const auto has_run = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begin_);
  RepetitionRequest request;
  request.repetitions = 1;
  request.timeout = std::clamp<std::chrono::milliseconds>(2 * has_run, kLeast, kMost);
  ProbedImages images(setup_.request.stack_depth);
  const Expected<RepetitionEnd> ended = RunRepetitions(
      setup_, request, {.region_for = [&](int pid) { return images.RegionFor(pid); }});
  OperatorAccount account = images.Take();
  account_ = ended && ended->problem.empty() ? std::move(account) : OperatorAccount{};
  return *account_;
}

}  // namespace leakgate
