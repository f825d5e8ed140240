#include "runner/reach/holder.h"

#include <fmt/format.h>

namespace leakgate {

std::string HolderText(const HolderChain& holder, const CallSiteText& call_site) {
  std::string text = holder.root;
  if (holder.hidden != 0) text += fmt::format(" -> ... {} more", holder.hidden);
  for (const LiveBlock& link : holder.links) {
    text += fmt::format(" -> {} B", link.size_bytes);
    const std::string site = call_site(link.stack);
    if (!site.empty()) text += fmt::format(" allocated by {}", site);
  }
  return text;
}

}  // namespace leakgate
