// Loaded by unwinding.cpp: calls what another loaded library defines, so that
// the call is bound when it is made.
extern "C" void DefinedElsewhere();

extern "C" void CallWhatIsDefinedElsewhere() {
  DefinedElsewhere();
  asm volatile("");  // no tail call
}
