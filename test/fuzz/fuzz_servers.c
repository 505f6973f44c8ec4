/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server lists: accepted or refused like a second, independent implementation does. An accepted list becomes numeric
 * addresses that libzookeeper can read. No resolver is called.
 */
#include <netdb.h>

#include <zkr/error.h>

#include "base/mem.h"
#include "base/path.h"
#include "fuzz.h"
#include "session/resolve.h"

enum { LIST_LIMIT = 16384, HOST_LIMIT = 255, PORT_LIMIT = 65535 };

__typeof__(getaddrinfo) __real_getaddrinfo, __wrap_getaddrinfo;

static int names_asked;

/* Names that start with a digit do not exist. All other names are one host. */
int __wrap_getaddrinfo(const char *host,
                       const char *port,
                       const struct addrinfo *hints,
                       struct addrinfo **out)
{
    if (hints->ai_flags & AI_NUMERICHOST) {
        return __real_getaddrinfo(host, port, hints, out);
    }
    names_asked++;
    if (*host >= '0' && *host <= '9') {
        return EAI_NONAME;
    }
    struct addrinfo numeric = *hints;
    numeric.ai_flags |= AI_NUMERICHOST;
    return __real_getaddrinfo("192.0.2.7", port, &numeric, out);
}

/* --- a second judge --- */

static bool is_port(const char *text)
{
    size_t length = strlen(text);
    if (length < 1 || length > 5 || strspn(text, "0123456789") != length) {
        return false;
    }
    int port = atoi(text);
    return port >= 1 && port <= PORT_LIMIT;
}

static bool is_host(const char *text)
{
    return *text && strlen(text) <= HOST_LIMIT && !strpbrk(text, " \t\r\n");
}

/* Returns whether @server is valid. Modifies @server. */
static bool is_server(char *server)
{
    if (*server == '[') {
        char *end = strchr(server, ']');
        if (!end || (end[1] && end[1] != ':')) {
            return false;
        }
        bool port = !end[1] || is_port(end + 2);
        *end = '\0';
        return port && is_host(server + 1);
    }
    char *colon = strchr(server, ':');
    bool port = !colon || is_port(colon + 1);
    if (colon) {
        *colon = '\0';
    }
    return port && is_host(server);
}

static bool is_good(const char *list)
{
    const char *chroot = strchr(list, '/');
    size_t length = chroot ? (size_t)(chroot - list) : strlen(list);
    if (strlen(list) > LIST_LIMIT ||
        (chroot && chroot[1] && zkr__path_fault(chroot) != NULL)) {
        return false;
    }
    char *servers = fuzz_copy(list, length);
    bool good = true;
    for (char *at = servers; good && at;) {
        char *comma = strchr(at, ',');
        if (comma) {
            *comma = '\0';
        }
        good = is_server(at);
        at = comma ? comma + 1 : NULL;
    }
    free(servers);
    return good;
}

/* --- what becomes of it --- */

/* Check "1.2.3.4:5" or "::1:5" as libzookeeper reads it: the last colon precedes the port. */
static void check_address(char *address)
{
    char *colon = strrchr(address, ':');
    FUZZ_TRUE(colon && is_port(colon + 1));
    *colon = '\0';
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
    struct addrinfo *found = NULL;
    FUZZ_TRUE(__real_getaddrinfo(address, NULL, &hints, &found) == 0);
    freeaddrinfo(found);
    FUZZ_TRUE(!strpbrk(address, "[], /"));
    *colon = ':';
}

static void check_distinct(const char *address, const char *rest)
{
    size_t length = strlen(address);
    while (rest) {
        size_t n = strcspn(rest, ",");
        FUZZ_TRUE(n != length || strncmp(rest, address, n) != 0);
        rest = rest[n] ? rest + n + 1 : NULL;
    }
}

static void check_resolved(const char *list, const char *resolved)
{
    const char *slash = strchr(list, '/');
    const char *chroot = slash && slash[1] ? slash : "";
    size_t length = strcspn(resolved, "/");
    FUZZ_TRUE(strcmp(resolved + length, chroot) == 0);
    char *servers = fuzz_copy(resolved, length);
    for (char *at = servers; at;) {
        char *comma = strchr(at, ',');
        if (comma) {
            *comma = '\0';
        }
        check_address(at);
        check_distinct(at, comma ? comma + 1 : NULL);
        at = comma ? comma + 1 : NULL;
    }
    free(servers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[200] = "";
    char *list = fuzz_copy(data, size);
    char *resolved = NULL;
    bool good = zkr__servers_check(list) == ZKR_OK;
    FUZZ_TRUE(good == is_good(list));
    if (good) {
        names_asked = 0;
        int rc = zkr__servers_resolve(list, true, &resolved, why, sizeof(why));
        FUZZ_TRUE(rc == ZKR_OK || rc == ZKR_ECONNLOSS);
        FUZZ_TRUE((rc == ZKR_OK) == (resolved != NULL));
        FUZZ_TRUE(rc == ZKR_OK || (names_asked > 0 && *why));
    } else {
        FUZZ_TRUE(zkr_last_error()->code == ZKR_EINVAL);
        FUZZ_TRUE(zkr_last_error()->message[0]);
    }
    if (resolved) {
        check_resolved(list, resolved);
    }
    zkr__mem_free(resolved);
    free(list);
    return 0;
}
