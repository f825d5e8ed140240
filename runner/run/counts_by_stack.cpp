#include "runner/run/counts_by_stack.h"

#include <algorithm>

namespace leakgate {
namespace {

constexpr std::size_t kMostTold = 63;  // of a series, in reports

}  // namespace

void HalveLooks(std::vector<std::int64_t>& net) {
  for (std::size_t i = 0; i < net.size() / 2; ++i) net[i] = net[2 * i] + net[2 * i + 1];
  net.resize(net.size() / 2);
}

void CountsByStack::Note(const std::vector<Live>& live) {
  ByKey now;
  built_later_.clear();
  for (const Live& one : live) {
    now[Key(one.test, one.stack)] += one.amount;
    if (one.is_of_tests) of_tests_.insert(one.stack);
    if (one.is_later) built_later_.insert(one.stack);
  }
  if (!has_begun_) {
    first_ = now;
  } else {
    ByKey& net = nets_.emplace_back();
    for (const auto& [key, amount] : now) {
      const auto before = last_.find(key);
      const Amount change = before == last_.end() ? amount : amount - before->second;
      if (change != Amount{}) net.emplace_hint(net.end(), key, change);
    }
    for (const auto& [key, amount] : last_) {
      if (!now.contains(key)) net[key] = Amount{} - amount;
    }
  }
  last_ = std::move(now);
  has_begun_ = true;
  if (nets_.size() == kMostLooks) Halve();
}

void CountsByStack::Halve() {
  if (told_.empty()) told_.assign(nets_.begin(), nets_.begin() + kMostTold);
  for (std::size_t i = 0; i < nets_.size() / 2; ++i) {
    ByKey sum = std::move(nets_[2 * i]);
    for (const auto& [key, amount] : nets_[2 * i + 1]) sum[key] += amount;
    nets_[i] = std::move(sum);
  }
  nets_.resize(nets_.size() / 2);
  stride_ *= 2;
}

std::map<CountsByStack::Key, RepetitionSeries> CountsByStack::Collect(const Place& place_of) const {
  std::map<Key, RepetitionSeries> all;
  const auto series_of = [&](const Key& key) -> RepetitionSeries* {
    const std::optional<Key> place = place_of(key);
    if (!place) return nullptr;
    const auto [entry, is_new] = all.try_emplace(*place);
    RepetitionSeries& series = entry->second;
    if (!is_new) return &series;
    series.blocks.resize(nets_.size());
    series.bytes.resize(nets_.size());
    series.told_blocks.resize(told_.size());
    series.told_bytes.resize(told_.size());
    series.is_built_once = !built_later_.contains(key.second);
    series.stride = stride_;
    return &series;
  };
  using NetMember = std::vector<std::int64_t> RepetitionSeries::*;
  const auto add = [&](const std::vector<ByKey>& nets, NetMember blocks, NetMember bytes) {
    for (std::size_t i = 0; i < nets.size(); ++i) {
      for (const auto& [key, change] : nets[i]) {
        RepetitionSeries* const series = series_of(key);
        if (series == nullptr) continue;
        (series->*blocks)[i] += change.blocks;
        (series->*bytes)[i] += change.bytes;
      }
    }
  };
  add(nets_, &RepetitionSeries::blocks, &RepetitionSeries::bytes);
  for (const auto& [key, amount] : last_) {
    if (of_tests_.contains(key.second)) series_of(key);
  }
  add(told_, &RepetitionSeries::told_blocks, &RepetitionSeries::told_bytes);
  for (const auto& [key, amount] : first_) {
    const std::optional<Key> place = place_of(key);
    const auto known = place ? all.find(*place) : all.end();
    if (known != all.end()) known->second.first += amount;
  }
  return all;
}

std::map<std::uint32_t, RepetitionSeries> CountsByStack::AllSeries(const BySource& counts) const {
  const auto collected = Collect([&](const Key& key) -> std::optional<Key> {
    if (counts && !counts(key.first)) return std::nullopt;
    return Key{0, key.second};
  });
  std::map<std::uint32_t, RepetitionSeries> all;
  for (const auto& [key, series] : collected) all.emplace(key.second, series);
  return all;
}

std::map<std::uint32_t, std::map<std::uint32_t, RepetitionSeries>> CountsByStack::SeriesByTest()
    const {
  std::map<std::uint32_t, std::map<std::uint32_t, RepetitionSeries>> by_test;
  const auto collected = Collect(
      [](const Key& key) { return key.first >= kFirstTest ? std::optional(key) : std::nullopt; });
  for (const auto& [key, series] : collected) by_test[key.first].emplace(key.second, series);
  return by_test;
}

std::set<std::pair<std::uint32_t, std::uint32_t>> CountsByStack::FindChanged() const {
  std::set<Key> changed;
  for (const ByKey& net : nets_) {
    for (const auto& [key, amount] : net) {
      if (amount != Amount{}) changed.insert(key);
    }
  }
  return changed;
}

}  // namespace leakgate
