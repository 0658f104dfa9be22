# Python, pybind11, LLVM, oneTBB. Python packages of the interpreter in use come first (they are the
# build requirements of pyproject.toml); what it lacks is looked for among the installed packages.

find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)

# Sets `variable` to what the Python expression prints, or to "" where it fails.
function(lanewise_ask_python variable code)
  execute_process(COMMAND "${Python_EXECUTABLE}" -c "${code}"
    OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    set(answer "")
  endif()
  set(${variable} "${answer}" PARENT_SCOPE)
endfunction()

if(NOT pybind11_DIR)
  lanewise_ask_python(pybind11_DIR "import pybind11; print(pybind11.get_cmake_dir())")
endif()
find_package(pybind11 3 CONFIG REQUIRED)

if(NOT TBB_DIR)
  lanewise_ask_python(TBB_DIR "
from importlib.metadata import files
print(next(f for f in files('tbb-devel') if f.name == 'TBBConfig.cmake').locate().resolve().parent)")
endif()
find_package(TBB 2021 CONFIG REQUIRED COMPONENTS tbb)

if(NOT LLVM_DIR)
  lanewise_ask_python(LLVM_DIR "import mlc_llvm_static as m; print(m.get_cmake_dir())")
  lanewise_ask_python(llvm_prefix "import mlc_llvm_static as m; print(m.get_prefix())")
  list(PREPEND CMAKE_PREFIX_PATH ${llvm_prefix})  # it carries zlib and zstd for itself
endif()
find_package(LLVM CONFIG REQUIRED)
if(LLVM_VERSION_MAJOR LESS 22 OR LLVM_VERSION_MAJOR GREATER 23)
  message(FATAL_ERROR "LLVM ${LLVM_VERSION} in ${LLVM_DIR}: lanewise needs LLVM 22 or 23; "
    "install the Python package mlc-llvm-static, or pass -DLLVM_DIR=<prefix>/lib/cmake/llvm")
endif()
message(STATUS "LLVM ${LLVM_VERSION}: ${LLVM_DIR}")

# LLVM as one target. Only jit/ links it.
add_library(lanewise_llvm INTERFACE)
target_include_directories(lanewise_llvm SYSTEM INTERFACE "$<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}>")
separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(lanewise_llvm INTERFACE "$<BUILD_INTERFACE:${llvm_definitions}>")
if(LLVM_LINK_LLVM_DYLIB)  # as distributions build it; their static libraries need further packages
  target_link_libraries(lanewise_llvm INTERFACE LLVM)
else()
  llvm_map_components_to_libnames(llvm_libraries orcjit orcdebugging passes native)
  target_link_libraries(lanewise_llvm INTERFACE ${llvm_libraries})
endif()
