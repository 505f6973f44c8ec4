# SPDX-License-Identifier: Apache-2.0
#
# Builds the tree that this port is in.

get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DZKR_BUILD_TOOLS=OFF
        "-DCMAKE_INSTALL_LIBEXECDIR=tools/${PORT}"
        "-DZKR_GUARDIAN_PROGRAM=${CURRENT_INSTALLED_DIR}/tools/${PORT}/zkr-guardian")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/zkrecipes)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE
    "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share" "${CURRENT_PACKAGES_DIR}/debug/tools")

vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(WRITE "${CURRENT_PACKAGES_DIR}/share/${PORT}/usage" [[
zkrecipes provides CMake targets:

    find_package(zkrecipes CONFIG REQUIRED)
    target_link_libraries(main PRIVATE zkrecipes::zkrecipes)

Clients with a guardian (zkr/guardian.h) start tools/zkrecipes/zkr-guardian in the installed tree for which vcpkg built
the library. A binary cache may have restored the library from another tree. In that case, and where you deploy your
program, set the variable ZKR_GUARDIAN_PATH to the path of zkr-guardian.
]])
