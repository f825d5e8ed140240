// A program that runs without being traced, and is attached to: tests/fixtures/attach.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runner/attach/attach.h"
#include "runner/host/control_server.h"
#include "runner/region/region_file.h"

namespace leakgate::test {

// How a program is started.
enum class Carries { kNoAgent, kAgentThatStaysOff };
// How far it has come then.
enum class Until { kReady, kBegun };

[[nodiscard]] std::string AgentPath();

class AttachedProgram {
 public:
  // Runs `command`, the first word of which is a fixture's name or a path. Throws
  // std::runtime_error where it does not come so far.
  explicit AttachedProgram(Carries carries = Carries::kNoAgent,
                           std::vector<std::string> command = {"attach_target"},
                           Until until = Until::kReady);
  ~AttachedProgram();
  AttachedProgram(const AttachedProgram&) = delete;
  AttachedProgram& operator=(const AttachedProgram&) = delete;

  int pid() const { return pid_; }
  // From now on it is a child of its that is meant.
  void Follow(int pid) { followed_ = pid; }

  void Send(const std::string& line);
  // The next line that it writes; empty at the end.
  std::string Read();
  std::string Ask(const std::string& line) {
    Send(line);
    return Read();
  }

  // Does so while the thread that enables tracing asks for a region.
  void WhenItAsks(std::function<void()> deed) { when_it_asks_ = std::move(deed); }

  // Empty, or the error's message.
  std::string Enable();
  std::string Disable();
  const Attachment& attachment() const { return attachment_; }

  // Of the region that was given last.
  const RegionReader& region() const { return regions_.back()->reader(); }
  // How many blocks of `size` bytes are live.
  std::size_t BlocksOf(std::uint64_t size) const;

  // Its exit code, or 128 and its signal's number, once it has ended.
  int WaitForEnd();

 private:
  HelloReply OnHello(int pid);
  int traced() const { return followed_ == 0 ? pid_ : followed_; }

  std::mutex mutex_;
  bool gives_regions_ = false;
  std::function<void()> when_it_asks_;
  std::vector<std::unique_ptr<RegionFile>> regions_;
  std::unique_ptr<ControlServer> server_;
  Attachment attachment_;
  int pid_ = 0;
  int followed_ = 0;  // 0: itself
  int input_ = -1;    // of the program's
  int output_ = -1;   // likewise
  std::string unread_;
};

}  // namespace leakgate::test
