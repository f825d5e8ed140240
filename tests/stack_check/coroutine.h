// The least of a coroutine type: runs when awaited, hands over symmetrically.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace leakgate::check {

class Task {
 public:
  struct promise_type {
    std::coroutine_handle<> awaiter = std::noop_coroutine();

    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct HandBack {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> done) noexcept {
          return done.promise().awaiter;
        }
        void await_resume() noexcept {}
      };
      return HandBack{};
    }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  ~Task() {
    if (handle_) handle_.destroy();
  }

  void Run() { handle_.resume(); }

  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) {
    handle_.promise().awaiter = awaiter;
    return handle_;
  }
  void await_resume() const {}

 private:
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace leakgate::check
