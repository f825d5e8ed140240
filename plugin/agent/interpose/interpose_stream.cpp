// The calls by which GoogleTest finds its stream of events, opens it and writes to it, and one by
// which GLib decides how to allocate. All other calls of these functions are forwarded unchanged.
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "common/control_protocol.h"
#include "plugin/agent/interpose/interpose.h"
#include "plugin/agent/start/module_loading.h"
#include "plugin/agent/stream/stream_boundaries.h"
#include "plugin/agent/stream/stream_writer.h"

using namespace leakgate::agent;

namespace {

sockaddr g_stream_address{};

addrinfo g_stream_info = {
    .ai_flags = 0,
    .ai_family = kStreamFamily,
    .ai_socktype = SOCK_STREAM,
    .ai_protocol = 0,
    .ai_addrlen = sizeof(g_stream_address),
    .ai_addr = &g_stream_address,
    .ai_canonname = nullptr,
    .ai_next = nullptr,
};

void EnsureResolved() { (void)RouteOfOtherCall(); }

}  // namespace

// The environment itself is not changed: a child without the agent would really try to resolve the
// host, and GoogleTest aborts when that fails.
LEAKGATE_EXPORT char* getenv(const char* name) noexcept {
  EnsureResolved();
  char* const value = g_host.getenv(name);
  if (value != nullptr) return value;
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  if (is(leakgate::kStreamVariable) && WantsStream()) {
    return const_cast<char*>(leakgate::kStreamTarget);
  }
  // GLib before 2.76 keeps pools of blocks, in which a lost object would not be detected.
  if (is("G_SLICE") && IsTracing()) return const_cast<char*>("always-malloc");
  return nullptr;
}

LEAKGATE_EXPORT int getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                                addrinfo** result) {
  EnsureResolved();
  if (node == nullptr || std::strcmp(node, leakgate::kStreamHost) != 0) {
    return g_host.getaddrinfo(node, service, hints, result);
  }
  *result = &g_stream_info;
  return 0;
}

LEAKGATE_EXPORT void freeaddrinfo(addrinfo* info) noexcept {
  EnsureResolved();
  if (info != &g_stream_info) g_host.freeaddrinfo(info);
}

LEAKGATE_EXPORT int socket(int family, int type, int protocol) noexcept {
  EnsureResolved();
  if (family == kStreamFamily) return kStreamDescriptor;
  return g_host.socket(family, type, protocol);
}

LEAKGATE_EXPORT int connect(int fd, const sockaddr* address, socklen_t length) {
  EnsureResolved();
  if (fd != kStreamDescriptor) return g_host.connect(fd, address, length);
  TraceIfForked(ForkOccasion::kBoundary);
  OnStreamConnected();
  return 0;
}

LEAKGATE_EXPORT ssize_t write(int fd, const void* bytes, std::size_t count) {
  if (__builtin_expect(fd != kStreamDescriptor, 1)) {
    EnsureResolved();
    return g_host.write(fd, bytes, count);
  }
  TraceIfForked(ForkOccasion::kBoundary);
  RedirectPending();
  OnStreamWrite({static_cast<const char*>(bytes), count});
  return static_cast<ssize_t>(count);
}

LEAKGATE_EXPORT int close(int fd) {
  EnsureResolved();
  if (__builtin_expect(fd != kStreamDescriptor, 1)) return g_host.close(fd);
  if (StreamHasEnded() && KeepStreamOpen()) RunSlowPathCallUntraced();
  return 0;
}
