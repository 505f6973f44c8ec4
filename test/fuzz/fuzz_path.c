/* SPDX-License-Identifier: Apache-2.0 */
/* Paths: compared with the verdict of a second, independent implementation, joined and split. */
#include "base/mem.h"
#include "base/path.h"
#include "fuzz.h"
#include "utf8.h"

enum { PATH_LIMIT = 1047552 };

/* Returns whether servers accept a code point (ZooKeeper: PathUtils.validatePath()). */
static bool server_takes(uint32_t point)
{
    return point > 0x1f && !(point >= 0x7f && point <= 0x9f) &&
           !(point >= 0xd800 && point <= 0xf8ff) && point < 0xfff0;
}

static bool takes_characters(const char *path)
{
    uint32_t point = 0;
    for (size_t length; *path; path += length) {
        length = utf8_point(path, &point);
        if (length == 0 || !server_takes(point)) {
            return false;
        }
    }
    return true;
}

static bool takes_parts(const char *path)
{
    size_t length = strlen(path);
    return !strstr(path, "//") && path[length - 1] != '/' && !strstr(path, "/./") &&
           !strstr(path, "/../") && strcmp(path + length - 2, "/.") != 0 &&
           (length < 3 || strcmp(path + length - 3, "/..") != 0);
}

static bool is_good(const char *path)
{
    return path[0] == '/' && path[1] && strlen(path) <= PATH_LIMIT &&
           takes_characters(path) && takes_parts(path);
}

static void check_join(const char *path)
{
    const char *name = zkr__path_name(path);
    FUZZ_TRUE(!strchr(name, '/'));
    FUZZ_TRUE(strcmp(path + strlen(path) - strlen(name), name) == 0);
    char *joined = zkr__path_join(path, "lock-0000000001");
    FUZZ_TRUE(joined && strncmp(joined, path, strlen(path)) == 0);
    FUZZ_TRUE(strcmp(zkr__path_name(joined), "lock-0000000001") == 0);
    FUZZ_TRUE(strlen(joined) == strlen(path) + 16);
    FUZZ_TRUE(!is_good(path) || strlen(joined) > PATH_LIMIT ||
              !zkr__path_fault(joined));
    zkr__mem_free(joined);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *path = fuzz_copy(data, size);
    const char *fault = zkr__path_fault(path);
    FUZZ_TRUE((fault == NULL) == is_good(path));
    FUZZ_TRUE(!fault || *fault);
    check_join(path);
    free(path);
    return 0;
}
