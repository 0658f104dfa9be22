# lanewise_library(folder [PUBLIC target...] [PRIVATE target...]) makes the static library
# lanewise_<folder> (alias lanewise::<folder>) of all sources in the current folder. New files need
# no edit of a CMake file.
function(lanewise_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PUBLIC;PRIVATE")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  set(target lanewise_${folder})
  add_library(${target} STATIC ${sources})
  target_link_libraries(${target} PUBLIC lanewise_options ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  add_library(lanewise::${folder} ALIAS ${target})
endfunction()

# lanewise_test(name LABELS folder... LINK target...) makes one GoogleTest program of the sources in
# tests/<folder> and registers it with ctest under these labels.
function(lanewise_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LABELS;LINK")
  list(TRANSFORM arg_LABELS APPEND "/*.cpp" OUTPUT_VARIABLE patterns)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${patterns})
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${arg_LINK} lanewise_options GTest::gtest_main)
  # Tests run once for each time they are compiled.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  # Where tests find their golden files.
  target_compile_definitions(${name} PRIVATE LANEWISE_TEST_DIR="${PROJECT_SOURCE_DIR}/tests")
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
endfunction()

# lanewise_check_layers(folder...) makes the build fail where a file of these folders includes what
# its layer must not know.
function(lanewise_check_layers)
  list(TRANSFORM ARGN APPEND "/*.h" OUTPUT_VARIABLE headers)
  list(TRANSFORM ARGN APPEND "/*.cpp" OUTPUT_VARIABLE sources)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${headers} ${sources})
  set(script "${PROJECT_SOURCE_DIR}/tools/check_layers.py")
  set(stamp "${PROJECT_BINARY_DIR}/layers.stamp")
  add_custom_command(OUTPUT "${stamp}"
    COMMAND Python::Interpreter "${script}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS "${script}" ${files}
    COMMENT "Checking layers"
    VERBATIM)
  add_custom_target(lanewise_layers ALL DEPENDS "${stamp}")
endfunction()
