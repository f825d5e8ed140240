// The file systems whose programs are held when they begin (exec_hold.h).
//
// The kernel opens each file for the holder before it asks. So a file system that another user
// serves could block the holder, and with it the machine. Only programs of plain local file systems
// are held that root has mounted in the holder's own mount namespace: other users can neither serve
// these nor mount there. Programs of other file systems are found while they run
// (sessions/linux/start_watch.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runner/base/descriptors.h"

namespace leakgate {

struct Mount {
  int id = 0;
  int parent = 0;
  std::string device;         // "254:0"
  std::string place;          // "/mnt1"
  std::string options;        // of the mount: "rw,nosuid"
  std::string kind;           // "ext4"
  std::string super_options;  // of the file system: "rw,lowerdir=/a:/b"
};

// Parses lines such as "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw". Pure.
[[nodiscard]] std::vector<Mount> ParseMounts(std::string_view mountinfo);

// Returns the mounts whose programs can be held: no part of the path to them, and no layer of an
// overlay, is on a file system that a process or another machine serves. "/" is included if its own
// file system is of such a kind, whatever lies above it: whoever delays "/" delays everything
// anyway. Pure.
[[nodiscard]] std::vector<Mount> MountsToWatch(const std::vector<Mount>& mounts);

// Sends a descriptor of each such file system's root over `socket`, and after the last one a
// message without a descriptor. Whatever blocks a path may block the calling process.
void SendRootsOfMounts(const UniqueFd& socket);

}  // namespace leakgate
