# The C++ libraries with a CMake package: cmake --install <build> --component cpp --prefix <prefix>.
# Not part of what Python packages contain.
include(CMakePackageConfigHelpers)

add_library(lanewise_cpp INTERFACE)
target_link_libraries(lanewise_cpp INTERFACE lanewise_frontend)
set_target_properties(lanewise_cpp PROPERTIES EXPORT_NAME lanewise)
target_include_directories(lanewise_cpp INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>")
add_library(lanewise::lanewise ALIAS lanewise_cpp)

set(lanewise_package_dir lib/cmake/lanewise)
install(TARGETS lanewise_cpp lanewise_frontend lanewise_jit lanewise_runtime lanewise_ir
    lanewise_options lanewise_llvm
  EXPORT lanewise_targets ARCHIVE DESTINATION lib COMPONENT cpp EXCLUDE_FROM_ALL)
install(EXPORT lanewise_targets NAMESPACE lanewise:: DESTINATION ${lanewise_package_dir}
  COMPONENT cpp EXCLUDE_FROM_ALL)
install(DIRECTORY include/lanewise DESTINATION include COMPONENT cpp EXCLUDE_FROM_ALL)
foreach(folder IN ITEMS support ir runtime frontend)
  install(DIRECTORY ${folder} DESTINATION include/lanewise COMPONENT cpp EXCLUDE_FROM_ALL
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN detail EXCLUDE PATTERN math EXCLUDE)
endforeach()
install(FILES jit/compiler.h jit/disk_cache.h
  DESTINATION include/lanewise/jit COMPONENT cpp EXCLUDE_FROM_ALL)

configure_package_config_file(cmake/lanewiseConfig.cmake.in
  "${PROJECT_BINARY_DIR}/lanewiseConfig.cmake" INSTALL_DESTINATION ${lanewise_package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/lanewiseConfigVersion.cmake"
  COMPATIBILITY ExactVersion)
install(FILES "${PROJECT_BINARY_DIR}/lanewiseConfig.cmake"
    "${PROJECT_BINARY_DIR}/lanewiseConfigVersion.cmake"
  DESTINATION ${lanewise_package_dir} COMPONENT cpp EXCLUDE_FROM_ALL)
