// Loads a library that leaks, after the program has begun, while other threads load and unload
// another.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

static void LoadAndUnload() {
  for (int i = 0; i < 50; ++i) {
    void* const plugin = dlopen("./libother.so", RTLD_NOW);
    ASSERT_NE(nullptr, plugin) << dlerror();
    dlclose(plugin);
  }
}

TEST(Plugin, Leaks) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(LoadAndUnload);
  void* const plugin = dlopen("./libplugin.so", RTLD_NOW);
  ASSERT_NE(nullptr, plugin) << dlerror();
  reinterpret_cast<void (*)()>(dlsym(plugin, "Leak"))();
  for (std::thread& thread : threads) thread.join();
  dlclose(plugin);
}
