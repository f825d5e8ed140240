// What tests need of the processor, in one place.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leakgate::test {

#if defined(__x86_64__)

inline constexpr char kFirstVersionOfLibc[] = "GLIBC_2.2.5";
inline constexpr char kLibraryFolder[] = "/usr/lib/x86_64-linux-gnu/";
inline constexpr char kDynamicLinker[] = "/lib64/ld-linux-x86-64.so.2";
inline constexpr char kProcessorName[] = "x86-64";  // as leakgate says it
inline constexpr char kPlatform[] = "x86_64";       // as the kernel does
inline constexpr bool kCompilerPlacesThreadLocals = true;

// Overwrites what earlier calls have left in registers.
[[gnu::always_inline]] inline void WipeRegisters() {
  asm volatile("pxor %%xmm0, %%xmm0\n pxor %%xmm1, %%xmm1\n" ::
                   : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
                     "r13", "r14", "r15", "xmm0", "xmm1");
}

// Code that calls `function` with `argument` and returns, with no frame that a frame pointer tells.
struct CallingCode {
  static constexpr std::size_t kBytes = 31;
  static void Write(unsigned char* code, void* (*function)(std::size_t), std::uint32_t argument) {
    const unsigned char kCode[kBytes] = {0x48, 0x83, 0xec, 0x18,              // sub $24, %rsp
                                         0xbf, 0,    0,    0,    0,           // mov argument, %edi
                                         0xe8, 0x05, 0x00, 0x00, 0x00,        // call the jump
                                         0x48, 0x83, 0xc4, 0x18, 0xc3,        // add $24, %rsp; ret
                                         0x48, 0xb8, 0,    0,    0,    0, 0,  // mov function, %rax
                                         0,    0,    0,    0xff, 0xe0};       // jmp *%rax
    __builtin_memcpy(code, kCode, kBytes);
    __builtin_memcpy(code + 5, &argument, sizeof(argument));
    __builtin_memcpy(code + 21, &function, sizeof(function));
  }
};

#elif defined(__aarch64__)

inline constexpr char kFirstVersionOfLibc[] = "GLIBC_2.17";
inline constexpr char kLibraryFolder[] = "/usr/lib/aarch64-linux-gnu/";
inline constexpr char kDynamicLinker[] = "/lib/ld-linux-aarch64.so.1";
inline constexpr char kProcessorName[] = "AArch64";
inline constexpr char kPlatform[] = "aarch64";
// GCC's debug information does not say where a thread-local is, so only its symbol names it.
inline constexpr bool kCompilerPlacesThreadLocals = false;

// Overwrites what earlier calls have left in registers.
[[gnu::always_inline]] inline void WipeRegisters() {
  asm volatile(
      "mov x0, xzr\n mov x1, xzr\n mov x2, xzr\n mov x3, xzr\n mov x4, xzr\n mov x5, xzr\n"
      "mov x6, xzr\n mov x7, xzr\n mov x8, xzr\n mov x9, xzr\n mov x10, xzr\n mov x11, xzr\n"
      "mov x12, xzr\n mov x13, xzr\n mov x14, xzr\n mov x15, xzr\n mov x16, xzr\n"
      "mov x17, xzr\n movi v0.2d, #0\n movi v1.2d, #0\n movi v2.2d, #0\n movi v3.2d, #0\n"
      "movi v4.2d, #0\n movi v5.2d, #0\n movi v6.2d, #0\n movi v7.2d, #0\n" ::
          : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
            "x14", "x15", "x16", "x17", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26",
            "x27", "x28", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7");
}

// Code that calls `function` with `argument` and returns; its frame has no room for other words.
struct CallingCode {
  static constexpr std::size_t kBytes = 40;
  static void Write(unsigned char* code, void* (*function)(std::size_t), std::uint32_t argument) {
    const std::uint32_t kCode[kBytes / 4] = {
        0xa9bf7bfd,                    // stp x29, x30, [sp, #-16]!
        0x52800000 | (argument << 5),  // mov w0, argument
        0x580000b0,                    // ldr x16, the function: 20 bytes on
        0xd63f0200,                    // blr x16
        0xa8c17bfd,                    // ldp x29, x30, [sp], #16
        0xd65f03c0,                    // ret
        0xd503201f,
        0,
        0,  // nop; the function
        0xd503201f,
    };
    __builtin_memcpy(code, kCode, kBytes);
    __builtin_memcpy(code + 28, &function, sizeof(function));
    __builtin___clear_cache(reinterpret_cast<char*>(code), reinterpret_cast<char*>(code + kBytes));
  }
};

#endif

}  // namespace leakgate::test
