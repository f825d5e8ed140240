// A model of a test that is repeated: random programs of which it is known whether they grow
// without a bound. Each is made of containers as programs have them, whose sizes, bounds, periods,
// delays and call stacks are drawn at random; what is right is computed from what was drawn.
//
// The model has a clock of its own: a repetition takes as long as was drawn, and a pause as long as
// it is asked for. So a cache whose entries expire is full when its time has come.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace leakgate::test {

// The live blocks of a program, by an id.
class ModelHeap {
 public:
  struct Block {
    std::uint32_t stack = 0;
    std::uint64_t size_bytes = 0;
    bool is_later = false;  // not of the first repetition
  };

  std::uint64_t Allocate(std::uint32_t stack, std::uint64_t size_bytes) {
    blocks_[++last_] = {stack, size_bytes, repetition_ > 0};
    return last_;
  }
  void Free(std::uint64_t id) { blocks_.erase(id); }
  void NextRepetition() { ++repetition_; }

  const std::map<std::uint64_t, Block>& blocks() const { return blocks_; }

 private:
  std::map<std::uint64_t, Block> blocks_;
  std::uint64_t last_ = 0;
  int repetition_ = 0;
};

// Which stack the next allocation has: one, or others in turn or at random, or a new one each time.
class Sites {
 public:
  Sites(std::mt19937& random, std::uint32_t first);

  std::uint32_t Next();
  const std::string& name() const { return name_; }

 private:
  std::mt19937& random_;
  const std::uint32_t first_;
  std::uint32_t count_ = 1;
  std::uint32_t next_ = 0;
  bool at_random_ = false;
  std::string name_;
};

// One container of a program.
struct Part {
  std::string name;
  std::string row;                         // of the table of rates to which it belongs
  bool grows = false;                      // without a bound
  std::function<void(double now)> repeat;  // what a repetition does; `now` in seconds
  std::function<void(double now)> pass;    // what other threads do meanwhile; may be empty
};

class ModelProgram {
 public:
  // Draws a program. One in two grows.
  explicit ModelProgram(std::uint32_t seed);

  void Repeat();
  void Wait(double seconds);

  [[nodiscard]] bool grows() const;
  [[nodiscard]] std::string name() const;
  // The rows of what it grows by; if it does not, of all its parts.
  [[nodiscard]] std::set<std::string> rows() const;
  [[nodiscard]] double seconds_each() const { return seconds_each_; }
  [[nodiscard]] const ModelHeap& heap() const { return heap_; }

 private:
  using Factory = Part (ModelProgram::*)(Sites sites);

  int Draw(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  // Small numbers as often as large ones.
  int DrawSize(int least, int most);
  void Add(Factory factory);

  Part Once(Sites sites);
  Part Ring(Sites sites);
  Part Batch(Sites sites);
  Part Table(Sites sites);
  Part LruByBytes(Sites sites);
  Part Slots(Sites sites);
  Part SetWithErase(Sites sites);
  Part HighWater(Sites sites);
  Part FullVector(Sites sites);
  Part Expiring(Sites sites);
  Part FreedByThread(Sites sites);

  Part Kept(Sites sites);
  Part KeptSeldom(Sites sites);
  Part KeptByChance(Sites sites);
  Part Log(Sites sites);
  Part DoublingLog(Sites sites);
  Part KeptFromTheSecondTime(Sites sites);
  Part RingThatLoses(Sites sites);

  std::mt19937 random_;
  ModelHeap heap_;
  std::uint32_t next_stack_ = 1;
  double now_ = 0;
  double seconds_each_ = 0;
  std::vector<Part> parts_;
};

}  // namespace leakgate::test
