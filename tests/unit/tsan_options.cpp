// Linked into the unit tests where they are built with the thread sanitizer.

// Tests allocate in signal handlers on purpose: that is what the agent must bear.
extern "C" const char* __tsan_default_options();   // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __tsan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "report_signal_unsafe=0";
}
