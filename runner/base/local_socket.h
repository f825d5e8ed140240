// Pieces of AF_UNIX that each user of it needs: abstract addresses, and descriptors that
// come with a message.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace leakgate {

// An abstract socket's: no file, so nothing is left behind. REQUIRES: `name` has at most
// 107 bytes.
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

// A message for sendmsg and recvmsg, with room for a descriptor beside its bytes.
class Packet {
 public:
  // `bytes` outlive it.
  Packet(void* bytes, std::size_t count) : part_{bytes, count} {
    header_.msg_iov = &part_;
    header_.msg_iovlen = 1;
  }
  Packet(const Packet&) = delete;
  Packet& operator=(const Packet&) = delete;

  // To be sent along.
  void Attach(int fd) {
    MakeRoom();
    cmsghdr* const rights = CMSG_FIRSTHDR(&header_);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
  }

  // Call before recvmsg, if a descriptor may come.
  void MakeRoom() {
    header_.msg_control = control_;
    header_.msg_controllen = sizeof(control_);
  }
  // The one that came; -1: none did.
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
