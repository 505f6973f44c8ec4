# SPDX-License-Identifier: Apache-2.0
#
# Installs the libraries, the headers, the CMake package and the pkg-config files.

include(CMakePackageConfigHelpers)

set(_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/zkrecipes")

install(TARGETS ${ZKR_LIBRARIES} zkrecipes_testing
    EXPORT zkrecipesTargets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT lib NAMELINK_COMPONENT dev
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)
install(DIRECTORY include/zkr
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev
    FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

install(EXPORT zkrecipesTargets
    NAMESPACE zkrecipes::
    DESTINATION "${_cmake_dir}" COMPONENT dev)
configure_package_config_file(
    "${CMAKE_CURRENT_LIST_DIR}/zkrecipesConfig.cmake.in"
    "${CMAKE_CURRENT_BINARY_DIR}/zkrecipesConfig.cmake"
    INSTALL_DESTINATION "${_cmake_dir}")
# Before 1.0, a new MINOR version may break compatibility.
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(_compatible SameMinorVersion)
else()
    set(_compatible SameMajorVersion)
endif()
write_basic_package_version_file(
    "${CMAKE_CURRENT_BINARY_DIR}/zkrecipesConfigVersion.cmake"
    COMPATIBILITY ${_compatible})
install(FILES
    "${CMAKE_CURRENT_BINARY_DIR}/zkrecipesConfig.cmake"
    "${CMAKE_CURRENT_BINARY_DIR}/zkrecipesConfigVersion.cmake"
    "${CMAKE_CURRENT_LIST_DIR}/FindZooKeeper.cmake"
    DESTINATION "${_cmake_dir}" COMPONENT dev)

# A .pc file finds the prefix relative to its own place, so the tree may be moved, unless the directories are absolute
# paths.
set(_pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(ZKR_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
    set(ZKR_PC_LIBDIR "${CMAKE_INSTALL_FULL_LIBDIR}")
    set(ZKR_PC_INCLUDEDIR "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
else()
    file(RELATIVE_PATH _up "/${_pc_dir}" "/")
    string(REGEX REPLACE "/$" "" _up "${_up}")
    set(ZKR_PC_PREFIX "\${pcfiledir}/${_up}")
    set(ZKR_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(ZKR_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
set(ZKR_PC_ZOOKEEPER -lzookeeper_mt)
if(ZooKeeper_LIBRARY MATCHES "/libzookeeper\\.[a-z]+$")
    string(REGEX REPLACE "^.*/lib(.*)\\.[a-z]+$" "-l\\1" _hashtable "${ZooKeeper_HASHTABLE}")
    set(ZKR_PC_ZOOKEEPER "-lzookeeper ${_hashtable} -lm -lpthread")
    if(OpenSSL_FOUND)
        string(APPEND ZKR_PC_ZOOKEEPER " -lssl -lcrypto")
    endif()
endif()
foreach(_pc zkrecipes zkrecipes-testing)
    configure_file("${CMAKE_CURRENT_LIST_DIR}/${_pc}.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/${_pc}.pc" @ONLY)
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${_pc}.pc" DESTINATION "${_pc_dir}" COMPONENT dev)
endforeach()

# In a directory that the system searches for libraries, run ldconfig, so that programs find this one at once.
install(CODE [[
    if("$ENV{DESTDIR}" STREQUAL "" AND CMAKE_INSTALL_PREFIX MATCHES "^/usr(/local)?/?$")
        execute_process(COMMAND "${CMAKE_COMMAND}" -E env "PATH=$ENV{PATH}:/usr/sbin:/sbin" ldconfig
            RESULT_VARIABLE _zkrecipes_failed OUTPUT_QUIET ERROR_QUIET)
        if(NOT _zkrecipes_failed EQUAL 0)
            message("Programs find the library once root has called ldconfig.")
        endif()
    endif()
]] COMPONENT lib)
