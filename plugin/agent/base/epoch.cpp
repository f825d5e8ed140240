#include "plugin/agent/base/epoch.h"

namespace leakgate::agent {

constinit std::atomic<std::uint64_t> g_epoch{1};
constinit std::uint32_t g_span = 0;

}  // namespace leakgate::agent
