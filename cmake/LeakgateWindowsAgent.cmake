# The agent for Windows: a library that needs kernel32 alone, and no C runtime, since it is initialised before all of
# them. It is always optimised: it is on every allocation's path.
include_guard(GLOBAL)

# Makes an agent as `target`, which is what users install, or the one that checks each stack (tests/windows/agent).
function(leakgate_add_windows_agent target)
  cmake_parse_arguments(PARSE_ARGV 1 agent "" "CHECKS_STACKS;EXPORTS" "SOURCES")
  set(agent_folder ${PROJECT_SOURCE_DIR}/plugin/agent)
  file(GLOB sources CONFIGURE_DEPENDS ${agent_folder}/*/*.cpp ${agent_folder}/*/nt/*.cpp ${agent_folder}/unwind/pe/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/agent/(linux|interpose|start|exec|stream)/[^/]*$")
  set(exports ${agent_folder}/exports.def)
  if(agent_EXPORTS)
    set(exports ${agent_EXPORTS})
  endif()
  add_library(${target} SHARED ${sources} ${agent_SOURCES} ${exports})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME leakgate_agent64 PREFIX "" LINK_DEPENDS ${exports})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/plugin/include)
  target_link_libraries(${target} PRIVATE leakgate_common)
  target_compile_definitions(${target} PRIVATE LEAKGATE_CHECKS_STACKS=${agent_CHECKS_STACKS} _WIN32_WINNT=0x0A00)
  # GCC ignores the visibility of symbols here, and takes the thread's own block for an array of no elements.
  target_compile_options(${target} PRIVATE
    -O2 -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-builtin-malloc -fno-builtin-calloc
    -fno-builtin-realloc -fno-builtin-free -fno-sized-deallocation -fno-stack-protector -fomit-frame-pointer
    -fno-tree-slp-vectorize -mcmodel=small -Wno-attributes -Wno-array-bounds)
  target_link_options(${target} PRIVATE -nostdlib -nostartfiles -Wl,-e,leakgate_library_entry)
  target_link_libraries(${target} PRIVATE gcc kernel32)
  leakgate_set_warnings(${target})
endfunction()

leakgate_add_windows_agent(leakgate_agent CHECKS_STACKS false)
leakgate_set_output_folders(leakgate_agent)

# What programs link that import the agent themselves. LLVM's tool makes it as Microsoft's linker does.
find_program(LEAKGATE_DLLTOOL NAMES llvm-dlltool x86_64-w64-mingw32-dlltool REQUIRED)
set(library ${PROJECT_BINARY_DIR}/lib/leakgate_agent64.lib)
set(exports ${PROJECT_SOURCE_DIR}/plugin/agent/exports.def)
add_custom_command(OUTPUT ${library} COMMAND ${LEAKGATE_DLLTOOL} -m i386:x86-64 -d ${exports} -l ${library} DEPENDS ${exports})
add_custom_target(leakgate_agent_library ALL DEPENDS ${library})
