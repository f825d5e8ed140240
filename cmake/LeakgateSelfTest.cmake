# The programs that `leakgate doctor --self-test` traces on Windows, in lib/leakgate/self_test. Clang and lld, where they
# are installed, make the program with a PDB, which Windows reads; else it is compiled as all others are.
include_guard(GLOBAL)
set(folder ${PROJECT_BINARY_DIR}/lib/leakgate/self_test)
set(sources ${PROJECT_SOURCE_DIR}/plugin/self_test)
file(MAKE_DIRECTORY ${folder})

foreach(name leakgate_self_test_early leakgate_self_test_late)
  add_library(${name} SHARED ${sources}/library.cpp)
  target_link_libraries(${name} PRIVATE leakgate_common)
  target_link_options(${name} PRIVATE -static -s)
  set_target_properties(${name} PROPERTIES PREFIX "" RUNTIME_OUTPUT_DIRECTORY ${folder})
  leakgate_set_warnings(${name})
endforeach()

set(program_sources ${sources}/main.cpp ${sources}/stacks.cpp ${sources}/held.cpp ${sources}/events.cpp)
find_program(LEAKGATE_CLANG clang++)
find_program(LEAKGATE_LLD ld.lld)
if(LEAKGATE_CLANG AND LEAKGATE_LLD)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-libgcc-file-name OUTPUT_VARIABLE libgcc OUTPUT_STRIP_TRAILING_WHITESPACE)
  cmake_path(GET libgcc PARENT_PATH gcc)
  add_custom_command(OUTPUT ${folder}/leakgate_self_test.exe BYPRODUCTS ${folder}/leakgate_self_test.pdb
    COMMAND ${LEAKGATE_CLANG} --target=x86_64-w64-windows-gnu -std=c++17 -O1 -g -gcodeview -fuse-ld=lld -static -Wall -Wextra
            -Wno-unused-command-line-argument -isystem ${gcc}/include/c++ -isystem ${gcc}/include/c++/x86_64-w64-mingw32 -L${gcc}
            -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/plugin/include -Wl,--pdb=leakgate_self_test.pdb
            -Wl,-Xlink=-pdbaltpath:leakgate_self_test.pdb ${program_sources}
            $<TARGET_LINKER_FILE:leakgate_self_test_early> -o leakgate_self_test.exe -lole32 -loleaut32 -lstdc++ -lwinpthread -lgcc_eh -lgcc
    WORKING_DIRECTORY ${folder}
    DEPENDS ${program_sources} ${sources}/self_test.h ${sources}/high_heap.h ${PROJECT_SOURCE_DIR}/common/nt_self_test.h
            ${PROJECT_SOURCE_DIR}/common/allocation_kind.h leakgate_self_test_early)
  add_custom_target(leakgate_self_test_program DEPENDS ${folder}/leakgate_self_test.exe)
else()
  add_executable(leakgate_self_test_program ${program_sources})
  target_link_libraries(leakgate_self_test_program PRIVATE leakgate_common leakgate_calls leakgate_self_test_early ole32 oleaut32)
  target_compile_options(leakgate_self_test_program PRIVATE -O1 -g)
  target_link_options(leakgate_self_test_program PRIVATE -static)
  set_target_properties(leakgate_self_test_program PROPERTIES OUTPUT_NAME leakgate_self_test RUNTIME_OUTPUT_DIRECTORY ${folder})
endif()
add_custom_target(leakgate_self_test ALL DEPENDS leakgate_self_test_program leakgate_self_test_early leakgate_self_test_late)
