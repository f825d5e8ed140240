// Whom the agent waits for: a runner that lives, however long it lets nobody connect; and no one
// who has its name after it.
#include "plugin/agent/linux/control_client.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "common/control_protocol.h"
#include "runner/base/descriptors.h"
#include "runner/base/linux/local_socket.h"
#include "runner/process/proc_files.h"

namespace leakgate::agent {
namespace {

std::string NameOf(int pid, std::uint64_t start_time) {
  return kControlPrefix + std::to_string(pid) + "-" + std::to_string(start_time) + "-test";
}

UniqueFd OpenSocket() {
  return UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Listens, and has as many wait as may.
class FullListener {
 public:
  explicit FullListener(const std::string& name) {
    const AbstractAddress address(name);
    if (::bind(socket_.get(), address.get(), address.size()) != 0) return;
    if (::listen(socket_.get(), 0) != 0) return;
    for (;;) {
      UniqueFd client = OpenSocket();
      if (::connect(client.get(), address.get(), address.size()) != 0) break;
      waiting_.push_back(std::move(client));
    }
    is_full_ = errno == EAGAIN;
  }

  bool is_full() const { return is_full_; }

  // Answers all that come from now on, until `count` have said something.
  void Answer(int count) {
    while (count > 0) {
      const UniqueFd client(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      waiting_.clear();
      Hello hello{};
      if (::recv(client.get(), &hello, sizeof(hello), 0) != sizeof(hello)) continue;
      const leakgate::Answer answer{kControlMagic, 0, 0, 7};
      ::send(client.get(), &answer, sizeof(answer), MSG_NOSIGNAL);
      --count;
    }
  }

 private:
  UniqueFd socket_ = OpenSocket();
  std::vector<UniqueFd> waiting_;
  bool is_full_ = false;
};

TEST(ControlClientTest, WaitsForARunnerThatLives) {
  const std::string name = NameOf(::getpid(), StartTimeOf(::getpid()));
  FullListener listener(name);
  ASSERT_TRUE(listener.is_full());
  ControlReply reply;
  std::thread program([&] { reply = AskToBeTraced(name.c_str()); });
  std::this_thread::sleep_for(std::chrono::seconds(1));  // longer than for a stranger
  listener.Answer(1);
  program.join();
  EXPECT_TRUE(reply.has_answered);
  EXPECT_EQ(reply.window, 7U);
}

TEST(ControlClientTest, GoesOnWhereTheRunnerHasEnded) {
  const std::uint64_t start_time = StartTimeOf(::getpid());
  for (const std::string& name :
       {NameOf(::getpid(), start_time + 1), NameOf(1 << 22, start_time), NameOf(0, start_time),
        NameOf(::getpid(), 0), std::string("leakgate-nobody"), std::string("another")}) {
    FullListener listener(name);
    ASSERT_TRUE(listener.is_full());
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(AskToBeTraced(name.c_str()).has_answered);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8)) << name;
  }
}

}  // namespace
}  // namespace leakgate::agent
