// Knows nothing of leakgate.
#include <gtest/gtest.h>

#include <queue>

struct Job {
  int number;
};

class Queue : public testing::Test {
 protected:
  void Push(int number) { jobs_.push(new Job{number}); }

  int Pop() {
    Job* job = jobs_.front();
    jobs_.pop();
    const int number = job->number;
    delete job;
    return number;
  }

  std::queue<Job*> jobs_;
};

TEST_F(Queue, IsEmptied) {
  Push(1);
  EXPECT_EQ(1, Pop());
}

TEST_F(Queue, DropsWhatIsLeft) {
  Push(1);
  Push(2);
  EXPECT_EQ(1, Pop());
}
