# SPDX-License-Identifier: Apache-2.0
#
# How our own code is compiled: language, warnings, sanitizers, coverage.

# Strict C11.
function(zkr_c11 target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11
        C_STANDARD_REQUIRED ON
        C_EXTENSIONS OFF)
endfunction()

# The warnings, which are errors with ZKR_WERROR.
function(zkr_warnings target)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-qual
        -Wcast-align -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wformat=2 -Wvla
        -Wswitch-enum -Wwrite-strings -Wpointer-arith -Wnull-dereference
        -Wdouble-promotion -Wimplicit-fallthrough)
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE
            -Wlogical-op -Wduplicated-cond -Wduplicated-branches)
    elseif(CMAKE_C_COMPILER_ID MATCHES "Clang")
        target_compile_options(${target} PRIVATE -Wthread-safety)
    endif()
    if(ZKR_WERROR)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
endfunction()

# Applies ZKR_SANITIZE. Targets that link this one get the run-time libraries, too.
function(zkr_sanitize target)
    if(NOT ZKR_SANITIZE)
        return()
    endif()
    list(JOIN ZKR_SANITIZE "," names)
    target_compile_options(${target} PRIVATE
        -fsanitize=${names} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${names})
endfunction()

# Applies ZKR_COVERAGE. Targets that link this one get the run-time library, too.
function(zkr_coverage target)
    if(ZKR_COVERAGE)
        target_compile_options(${target} PRIVATE --coverage -fprofile-update=atomic)
        target_link_options(${target} PUBLIC --coverage)
        if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 14)
            target_compile_options(${target} PRIVATE -fcondition-coverage)
        endif()
    endif()
endfunction()
