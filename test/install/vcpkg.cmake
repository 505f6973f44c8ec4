# SPDX-License-Identifier: Apache-2.0
#
# cmake -DROOT=... -DWORK=... -DINSTALLED=... -DLINKAGE=... -DGENERATOR=... -P vcpkg.cmake: runs the port for vcpkg with
# a stand-in for each function of vcpkg that it calls, and writes its version into WORK/version. One build without
# optimization serves as release and debug.

set(PORT zkrecipes)
set(_port "${ROOT}/tools/ports/vcpkg/${PORT}")
file(READ "${_port}/vcpkg.json" _json)
string(JSON VERSION GET "${_json}" version)
file(WRITE "${WORK}/version" "${VERSION}")
set(CURRENT_INSTALLED_DIR "${INSTALLED}")
set(CURRENT_PACKAGES_DIR "${WORK}/packages_${LINKAGE}")

function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${ARGV}: ${status}\n${said}")
    endif()
endfunction()

function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 ARG "" "SOURCE_PATH" "OPTIONS")
    string(COMPARE EQUAL "${LINKAGE}" dynamic shared)
    run("${CMAKE_COMMAND}" -S "${ARG_SOURCE_PATH}" -B "${WORK}/build_${LINKAGE}" -G "${GENERATOR}" -DCMAKE_BUILD_TYPE=Debug
        "-DBUILD_SHARED_LIBS=${shared}" "-DCMAKE_PREFIX_PATH=${CURRENT_INSTALLED_DIR}"
        "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" -DCMAKE_INSTALL_LIBDIR=lib ${ARG_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
    run("${CMAKE_COMMAND}" --build "${WORK}/build_${LINKAGE}" --parallel 2)
    run("${CMAKE_COMMAND}" --install "${WORK}/build_${LINKAGE}")
    run("${CMAKE_COMMAND}" --install "${WORK}/build_${LINKAGE}" --prefix "${CURRENT_PACKAGES_DIR}/debug")
endfunction()

# vcpkg moves the files to share/zkrecipes and leaves only FindZooKeeper.cmake in debug/share.
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 ARG "" "CONFIG_PATH" "")
    file(COPY "${CURRENT_PACKAGES_DIR}/${ARG_CONFIG_PATH}/${PORT}Config.cmake" DESTINATION "${WORK}")
    file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/lib/cmake")
    file(MAKE_DIRECTORY "${CURRENT_PACKAGES_DIR}/debug/share/${PORT}")
endfunction()

function(vcpkg_fixup_pkgconfig)
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 ARG "" "" "FILE_LIST")
    configure_file(${ARG_FILE_LIST} "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright" COPYONLY)
endfunction()

include("${_port}/portfile.cmake")
