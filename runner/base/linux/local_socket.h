// What all users of AF_UNIX sockets share: abstract addresses, and messages that carry a
// descriptor.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace leakgate {

// The address of an abstract socket. It is no file, so nothing remains after the process.
// REQUIRES: `name` has at most 107 bytes.
class AbstractAddress {
 public:
  explicit AbstractAddress(std::string_view name)
      : bytes_(static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())) {
    raw_.sun_family = AF_UNIX;
    std::memcpy(raw_.sun_path + 1, name.data(), name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&raw_); }
  socklen_t size() const { return bytes_; }

 private:
  sockaddr_un raw_{};
  socklen_t bytes_;
};

// A message for sendmsg and recvmsg: bytes, and possibly one descriptor.
class Packet {
 public:
  // REQUIRES: `bytes` outlive the packet.
  Packet(void* bytes, std::size_t count) : part_{bytes, count} {
    header_.msg_iov = &part_;
    header_.msg_iovlen = 1;
  }
  Packet(const Packet&) = delete;
  Packet& operator=(const Packet&) = delete;

  // Makes sendmsg send a duplicate of `fd`, too.
  void Attach(int fd) {
    MakeRoom();
    cmsghdr* const rights = CMSG_FIRSTHDR(&header_);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
  }

  // Must be called before recvmsg if a descriptor may arrive.
  void MakeRoom() {
    header_.msg_control = control_;
    header_.msg_controllen = sizeof(control_);
  }
  // The descriptor that recvmsg has received, which the caller owns; -1 if there is none.
  int Attached() {
    const cmsghdr* const rights = CMSG_FIRSTHDR(&header_);
    int fd = -1;
    if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS) {
      std::memcpy(&fd, CMSG_DATA(rights), sizeof(fd));
    }
    return fd;
  }

  msghdr* get() { return &header_; }

 private:
  iovec part_;
  alignas(cmsghdr) char control_[CMSG_SPACE(sizeof(int))] = {};
  msghdr header_{};
};

}  // namespace leakgate
