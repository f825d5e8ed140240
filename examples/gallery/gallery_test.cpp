// Ten ways to leave memory behind: docs/gallery.md shows what leakgate says of each.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

// 1. An early return forgets the buffer.
bool Parse(const char* text) {
  char* copy = strdup(text);
  if (std::strchr(copy, '=') == nullptr) return false;
  free(copy);
  return true;
}

TEST(Config, RejectsALineWithoutAValue) { EXPECT_FALSE(Parse("name")); }

// 2. A cycle of shared_ptr: each keeps the other, and nothing keeps them.
struct Node {
  std::shared_ptr<Node> other;
};

TEST(Graph, LinksBothWays) {
  auto a = std::make_shared<Node>();
  auto b = std::make_shared<Node>();
  a->other = b;
  b->other = a;
}

// 3. A base class without a virtual destructor: the derived part's member is never destroyed.
struct Shape {
  ~Shape() = default;  // not virtual
};
struct Named : Shape {
  std::string name = std::string(100, 'n');
};

TEST(Shape, IsDeletedByItsBase) {
  Shape* shape = new Named;
  operator delete(shape);
}

// 4. A cache without a bound: something leads to all of it, and it grows each time.
class Sessions {
 public:
  void Remember(const std::string& user) { users_.push_back(user + std::string(50, '.')); }

 private:
  std::vector<std::string> users_;
};

Sessions& AllSessions() {
  static Sessions* sessions = new Sessions;  // built once: no leak
  return *sessions;
}

TEST(Server, RemembersALogin) { AllSessions().Remember("ann"); }

// 5. A callback that is never removed.
std::map<int, std::function<void()>>& Callbacks() {
  static auto* callbacks = new std::map<int, std::function<void()>>;
  return *callbacks;
}

TEST(Events, AreSubscribedTo) {
  static int next = 0;
  Callbacks()[next++] = [text = std::string(64, 'x')] { (void)text; };
}

// 6. The new pointer replaces the old one.
class Buffer {
 public:
  ~Buffer() { delete[] bytes_; }
  void Resize(std::size_t size) { bytes_ = new char[size]; }

 private:
  char* bytes_ = nullptr;
};

TEST(Buffer, IsResizedTwice) {
  Buffer buffer;
  buffer.Resize(16);
  buffer.Resize(32);
}

// 7. A C library's handle: fopen's memory is yours until fclose.
TEST(Log, IsWritten) {
  FILE* log = std::fopen("/dev/null", "w");
  std::fputs("started\n", log);
}

// 8. A mapping that is never unmapped.
TEST(Image, IsMapped) {
  void* pixels = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(pixels, 0, 1 << 20);
}

// 9. new[] and free.
TEST(Text, IsFreedByTheWrongFunction) {
  char* text = new char[24];
  std::strcpy(text, "freed by free()");
  free(text);
}

// 10. A worker thread that loses what it was given.
TEST(Worker, TakesAJob) {
  std::thread worker([] { *new volatile int = 1; });
  worker.join();
}
