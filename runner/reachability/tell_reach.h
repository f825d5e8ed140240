#pragma once
#include <string>
#include <functional>
#include <vector>
#include "runner/reachability/reach.h"
#include "runner/snapshot/region_reader.h"
namespace leakgate {
struct BlockReach { Reach reach = Reach::kUnknown; std::string holder; };
template <typename F>
Expected<std::vector<BlockReach>> TellReach(int, const RegionReader&, const std::vector<LiveBlock>&, F) { return InconclusiveError("stub"); }
}
