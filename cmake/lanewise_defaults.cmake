# What every target shares: build type, compiler cache, linker, flags.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()
# Only with the compiler of CI: each newer one warns of something else, and must build all the same.
if(LANEWISE_DEVELOPER AND NOT DEFINED CMAKE_COMPILE_WARNING_AS_ERROR AND
    CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
endif()

# Several files compiled as one: less than half the time for all, since templates and headers weigh
# more than our own code. Debug builds compile each file alone, which shows a missing include.
if(NOT DEFINED CMAKE_UNITY_BUILD AND CMAKE_BUILD_TYPE STREQUAL "Release")
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 6)
endif()

find_program(LANEWISE_CCACHE ccache)
if(LANEWISE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${LANEWISE_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${LANEWISE_CCACHE}")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Line tables only: enough for a backtrace, and installed files are stripped anyway.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g -D_GLIBCXX_ASSERTIONS")

add_library(lanewise_options INTERFACE)
# The interpreter and the constant folder must round after every operation, as kernels do.
# None of this is for programs that use the installed libraries.
target_compile_options(lanewise_options INTERFACE
  "$<BUILD_INTERFACE:-Wall;-Wextra;-Wpedantic;-ffp-contract=off>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False positives inside std::string's operator+ (GCC bug 105651).
  target_compile_options(lanewise_options INTERFACE $<BUILD_INTERFACE:-Wno-restrict>)
endif()
target_include_directories(lanewise_options INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
  "$<INSTALL_INTERFACE:include>" "$<INSTALL_INTERFACE:include/lanewise>")
target_compile_features(lanewise_options INTERFACE $<INSTALL_INTERFACE:cxx_std_20>)

if(LANEWISE_SANITIZE)
  list(JOIN LANEWISE_SANITIZE "," sanitizers)
  target_compile_options(lanewise_options INTERFACE
    -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1)
  target_link_options(lanewise_options INTERFACE -fsanitize=${sanitizers})
endif()

# A static LLVM links several times faster with these; GNU ld works too.
if(NOT CMAKE_LINKER_TYPE)
  find_program(LANEWISE_MOLD ld.mold)
  find_program(LANEWISE_LLD ld.lld)
  if(LANEWISE_MOLD)
    target_link_options(lanewise_options INTERFACE $<BUILD_INTERFACE:-fuse-ld=mold>)
  elseif(LANEWISE_LLD)
    target_link_options(lanewise_options INTERFACE $<BUILD_INTERFACE:-fuse-ld=lld>)
  endif()
endif()
