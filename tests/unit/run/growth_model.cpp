#include "tests/unit/run/growth_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace leakgate::test {
namespace {

struct Entry {
  std::uint64_t id = 0;
  double until = 0;
  std::uint64_t size_bytes = 0;
};
using Queue = std::shared_ptr<std::deque<Entry>>;

Queue NewQueue() { return std::make_shared<std::deque<Entry>>(); }

std::string RowOfBound(int entries) {
  if (entries <= 64) return "up to 64 entries";
  return entries <= 256 ? "65 to 256 entries" : "257 to 1,000 entries";
}

std::string RowOfDelay(double seconds) {
  return seconds <= 0.5 ? "freed within 0.5 s" : "freed within 5 s";
}

std::string RowOfSize(std::uint64_t bytes) {
  return bytes <= 256 ? "each time, blocks of up to 256 B" : "each time, blocks of up to 16 KiB";
}

std::string RowOfPeriod(int times) {
  return times <= 4 ? "one of up to 4 times" : "one of 5 to 16 times";
}

}  // namespace

Sites::Sites(std::mt19937& random, std::uint32_t first) : random_(random), first_(first) {
  constexpr std::uint32_t kAlwaysNew = 1U << 20;
  constexpr std::array<std::uint32_t, 8> kCounts = {1, 1, 1, 2, 3, 8, 64, kAlwaysNew};
  count_ = kCounts.at(random() % kCounts.size());
  at_random_ = count_ > 3 && count_ != kAlwaysNew && random() % 2 == 0;
  name_ = count_ == kAlwaysNew ? "new stacks" : std::to_string(count_) + " stacks";
}

std::uint32_t Sites::Next() {
  const auto index = at_random_ ? static_cast<std::uint32_t>(random_()) : next_++;
  return first_ + index % count_;
}

ModelProgram::ModelProgram(std::uint32_t seed) : random_(seed) {
  constexpr std::array<Factory, 11> kBounded = {
      &ModelProgram::Once,         &ModelProgram::Ring,         &ModelProgram::Batch,
      &ModelProgram::Table,        &ModelProgram::LruByBytes,   &ModelProgram::Slots,
      &ModelProgram::SetWithErase, &ModelProgram::HighWater,    &ModelProgram::FullVector,
      &ModelProgram::Expiring,     &ModelProgram::FreedByThread};
  constexpr std::array<Factory, 7> kGrowing = {
      &ModelProgram::Kept,         &ModelProgram::KeptSeldom,  &ModelProgram::KeptByChance,
      &ModelProgram::Log,          &ModelProgram::DoublingLog, &ModelProgram::KeptFromTheSecondTime,
      &ModelProgram::RingThatLoses};
  seconds_each_ = 1e-5 * std::pow(10.0, Draw(0, 20) / 10.0);  // 10 us to 1 ms
  const int bounded = Draw(1, 2);
  for (int i = 0; i < bounded; ++i) Add(kBounded.at(random_() % kBounded.size()));
  if (seed % 2 == 0) Add(kGrowing.at(random_() % kGrowing.size()));
}

int ModelProgram::DrawSize(int least, int most) {
  const double from = std::log(least);
  const double to = std::log(most);
  const double drawn = std::uniform_real_distribution<double>(from, to)(random_);
  return static_cast<int>(std::lround(std::exp(drawn)));
}

void ModelProgram::Add(Factory factory) {
  Sites sites(random_, next_stack_);
  next_stack_ += 1U << 21;
  const std::string where = sites.name();
  Part part = (this->*factory)(std::move(sites));
  part.name += " at " + where;
  parts_.push_back(std::move(part));
}

void ModelProgram::Repeat() {
  for (Part& part : parts_) part.repeat(now_);
  heap_.NextRepetition();
  Wait(seconds_each_);
}

void ModelProgram::Wait(double seconds) {
  now_ += seconds;
  for (Part& part : parts_) {
    if (part.pass) part.pass(now_);
  }
}

bool ModelProgram::grows() const {
  return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.grows; });
}

std::string ModelProgram::name() const {
  std::string name;
  for (const Part& part : parts_) name += (name.empty() ? "" : " + ") + part.name;
  return name + ", " + std::to_string(seconds_each_ * 1e6) + " us";
}

std::set<std::string> ModelProgram::rows() const {
  std::set<std::string> rows;
  for (const Part& part : parts_) {
    if (part.grows == grows()) rows.insert(part.row);
  }
  return rows;
}

Part ModelProgram::Once(Sites sites) {
  const auto size = static_cast<std::uint64_t>(DrawSize(16, 1 << 20));
  auto is_built = std::make_shared<bool>(false);
  return {"once",
          "built once",
          false,
          [=, this](double) mutable {
            if (!std::exchange(*is_built, true)) heap_.Allocate(sites.Next(), size);
          },
          {}};
}

Part ModelProgram::Ring(Sites sites) {
  const int bound = DrawSize(2, 1000);
  const int each = DrawSize(1, 4);
  const int most = DrawSize(17, 4000);
  const Queue queue = NewQueue();
  return {"ring of " + std::to_string(bound),
          RowOfBound(bound),
          false,
          [=, this](double) mutable {
            for (int i = 0; i < each; ++i) {
              const auto size = static_cast<std::uint64_t>(Draw(16, most));
              queue->push_back({heap_.Allocate(sites.Next(), size)});
              if (queue->size() <= static_cast<std::size_t>(bound)) continue;
              heap_.Free(queue->front().id);
              queue->pop_front();
            }
          },
          {}};
}

Part ModelProgram::Batch(Sites sites) {
  const int bound = DrawSize(2, 1000);
  const Queue queue = NewQueue();
  return {"batches of " + std::to_string(bound),
          RowOfBound(bound),
          false,
          [=, this](double) mutable {
            queue->push_back({heap_.Allocate(sites.Next(), 100)});
            if (queue->size() < static_cast<std::size_t>(bound)) return;
            for (const Entry& kept : *queue) heap_.Free(kept.id);
            queue->clear();
          },
          {}};
}

Part ModelProgram::Table(Sites sites) {
  const int bound = DrawSize(4, 500);
  const int each = DrawSize(1, 4);
  auto known = std::make_shared<std::vector<bool>>(bound);
  return {"table of " + std::to_string(bound),
          RowOfBound(bound),
          false,
          [=, this](double) mutable {
            for (int i = 0; i < each; ++i) {
              const auto word = static_cast<std::size_t>(Draw(0, bound - 1));
              if ((*known)[word]) continue;
              (*known)[word] = true;
              heap_.Allocate(sites.Next(), 32 + word % 64);
            }
          },
          {}};
}

Part ModelProgram::LruByBytes(Sites sites) {
  const auto bound = static_cast<std::uint64_t>(DrawSize(1 << 12, 1 << 18));
  const int most = DrawSize(static_cast<int>(bound / 300), static_cast<int>(bound / 8));
  const Queue queue = NewQueue();
  auto sum = std::make_shared<std::uint64_t>(0);
  return {"LRU of " + std::to_string(bound) + " B",
          "a bound in bytes",
          false,
          [=, this](double) mutable {
            const auto size = static_cast<std::uint64_t>(Draw(16, most));
            queue->push_back({heap_.Allocate(sites.Next(), size), 0, size});
            *sum += size;
            while (*sum > bound) {
              *sum -= queue->front().size_bytes;
              heap_.Free(queue->front().id);
              queue->pop_front();
            }
          },
          {}};
}

Part ModelProgram::Slots(Sites sites) {
  const int bound = DrawSize(2, 200);
  auto slots = std::make_shared<std::vector<std::uint64_t>>(bound);
  return {"slots " + std::to_string(bound),
          RowOfBound(bound),
          false,
          [=, this](double) mutable {
            std::uint64_t& slot = (*slots)[static_cast<std::size_t>(Draw(0, bound - 1))];
            heap_.Free(slot);
            slot = heap_.Allocate(sites.Next(), static_cast<std::uint64_t>(Draw(16, 600)));
          },
          {}};
}

Part ModelProgram::SetWithErase(Sites sites) {
  const int bound = DrawSize(4, 400);
  auto set = std::make_shared<std::map<int, std::uint64_t>>();
  return {"set of " + std::to_string(bound),
          RowOfBound(bound),
          false,
          [=, this](double) mutable {
            const int added = Draw(0, bound - 1);
            if (!set->contains(added)) (*set)[added] = heap_.Allocate(sites.Next(), 40);
            const auto erased = set->find(Draw(0, bound - 1));
            if (erased == set->end()) return;
            heap_.Free(erased->second);
            set->erase(erased);
          },
          {}};
}

Part ModelProgram::HighWater(Sites sites) {
  const int most = DrawSize(1 << 10, 1 << 20);
  auto kept = std::make_shared<Entry>();
  return {"high water",
          "a bound in bytes",
          false,
          [=, this](double) mutable {
            const auto size = static_cast<std::uint64_t>(Draw(16, most));
            if (size <= kept->size_bytes) return;
            heap_.Free(kept->id);
            *kept = {heap_.Allocate(sites.Next(), size), 0, size};
          },
          {}};
}

Part ModelProgram::FullVector(Sites sites) {
  const int bound = DrawSize(4, 1000);
  auto kept = std::make_shared<Entry>();
  auto size = std::make_shared<int>(0);
  return {"vector of " + std::to_string(bound),
          RowOfBound(bound),
          false,
          [=, this](double) mutable {
            if (*size >= bound) return;
            ++*size;
            if (static_cast<std::uint64_t>(*size) * 16 <= kept->size_bytes) return;
            heap_.Free(kept->id);
            const std::uint64_t bytes = std::max<std::uint64_t>(16, kept->size_bytes * 2);
            *kept = {heap_.Allocate(sites.Next(), bytes), 0, bytes};
          },
          {}};
}

// By the next call that finds them expired.
Part ModelProgram::Expiring(Sites sites) {
  const double time_to_live = 0.05 * std::pow(10.0, Draw(0, 20) / 10.0);  // 50 ms to 5 s
  const Queue queue = NewQueue();
  return {"cache for " + std::to_string(time_to_live) + " s",
          RowOfDelay(time_to_live),
          false,
          [=, this](double now) mutable {
            while (!queue->empty() && queue->front().until <= now) {
              heap_.Free(queue->front().id);
              queue->pop_front();
            }
            queue->push_back({heap_.Allocate(sites.Next(), 100), now + time_to_live});
          },
          {}};
}

Part ModelProgram::FreedByThread(Sites sites) {
  const double period = 0.05 * std::pow(10.0, Draw(0, 20) / 10.0);
  const Queue queue = NewQueue();
  auto next = std::make_shared<double>(period);
  return {"thread that frees each " + std::to_string(period) + " s", RowOfDelay(period), false,
          [=, this](double) mutable { queue->push_back({heap_.Allocate(sites.Next(), 100)}); },
          [=, this](double now) mutable {
            if (now < *next) return;
            *next = now + period;
            for (const Entry& kept : *queue) heap_.Free(kept.id);
            queue->clear();
          }};
}

Part ModelProgram::Kept(Sites sites) {
  const auto size = static_cast<std::uint64_t>(DrawSize(16, 1 << 14));
  const int each = DrawSize(1, 8);
  return {std::to_string(each) + " kept",
          RowOfSize(size),
          true,
          [=, this](double) mutable {
            for (int i = 0; i < each; ++i) heap_.Allocate(sites.Next(), size);
          },
          {}};
}

Part ModelProgram::KeptSeldom(Sites sites) {
  const int period = DrawSize(2, 16);
  auto calls = std::make_shared<int>(0);
  return {"kept each " + std::to_string(period) + " times",
          RowOfPeriod(period),
          true,
          [=, this](double) mutable {
            if ((*calls)++ % period == 0) heap_.Allocate(sites.Next(), 100);
          },
          {}};
}

Part ModelProgram::KeptByChance(Sites sites) {
  const int period = DrawSize(2, 8);
  return {"kept by chance, 1 of " + std::to_string(period),
          "by chance, 1 of up to 8 times",
          true,
          [=, this](double) mutable {
            if (Draw(1, period) == 1) heap_.Allocate(sites.Next(), 64);
          },
          {}};
}

// One block, which each line that appends moves to its own stack.
Part ModelProgram::Log(Sites sites) {
  const int lines = Draw(1, 4);
  auto kept = std::make_shared<Entry>();
  return {"log, " + std::to_string(lines) + " lines each time",
          "a log, 8 to 320 B each time",
          true,
          [=, this](double) mutable {
            for (int i = 0; i < lines; ++i) {
              heap_.Free(kept->id);
              const std::uint64_t size = kept->size_bytes + static_cast<std::uint64_t>(Draw(8, 80));
              *kept = {heap_.Allocate(sites.Next(), size), 0, size};
            }
          },
          {}};
}

Part ModelProgram::DoublingLog(Sites sites) {
  const int lines = Draw(1, 3);
  const double factor = Draw(0, 1) == 0 ? 2 : 1.5;
  auto kept = std::make_shared<Entry>();
  auto used = std::make_shared<std::uint64_t>(0);
  return {"log with room by a factor",
          "a log with room by a factor",
          true,
          [=, this](double) mutable {
            for (int i = 0; i < lines; ++i) {
              *used += static_cast<std::uint64_t>(Draw(20, 60));
              const std::uint32_t stack = sites.Next();
              if (*used <= kept->size_bytes) continue;
              heap_.Free(kept->id);
              const auto more = static_cast<std::uint64_t>(
                  factor * static_cast<double>(std::max<std::uint64_t>(kept->size_bytes, 30)));
              *kept = {heap_.Allocate(stack, std::max(more, *used)), 0, std::max(more, *used)};
            }
          },
          {}};
}

Part ModelProgram::KeptFromTheSecondTime(Sites sites) {
  auto is_built = std::make_shared<bool>(false);
  return {"kept from the second time",
          "from the second time on",
          true,
          [=, this](double) mutable {
            const bool is_first = !std::exchange(*is_built, true);
            heap_.Allocate(sites.Next(), is_first ? 5000 : 200);
          },
          {}};
}

// Evicts, and forgets to free one of some.
Part ModelProgram::RingThatLoses(Sites sites) {
  const int bound = DrawSize(2, 100);
  const int period = DrawSize(1, 8);
  const Queue queue = NewQueue();
  auto evicted = std::make_shared<int>(0);
  return {"ring that loses",
          "a ring that loses 1 of up to 8",
          true,
          [=, this](double) mutable {
            const auto size = static_cast<std::uint64_t>(Draw(16, 800));
            queue->push_back({heap_.Allocate(sites.Next(), size)});
            if (queue->size() <= static_cast<std::size_t>(bound)) return;
            if (++*evicted % period != 0) heap_.Free(queue->front().id);
            queue->pop_front();
          },
          {}};
}

}  // namespace leakgate::test
