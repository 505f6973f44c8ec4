/* SPDX-License-Identifier: Apache-2.0 */
#include "wards.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "group.h"

const struct ward *wards_find(const struct wards *w, int64_t session)
{
    const struct ward *ward;
    LL_SEARCH_SCALAR(w->wards, ward, session, session);
    return ward;
}

static void drop_session(struct wards *w, int64_t session)
{
    struct ward *ward;
    LL_SEARCH_SCALAR(w->wards, ward, session, session);
    if (ward) {
        LL_DELETE(w->wards, ward);
        explicit_bzero(ward->password, sizeof(ward->password));
        explicit_bzero(ward->servers, ward->text_size);
        free(ward->servers);
        free(ward);
    }
}

const char *ward_credential(const struct ward *ward,
                            const char **at,
                            const char **cert,
                            uint32_t *cert_len)
{
    const char *scheme = *at;
    size_t left = ward->text_size - (size_t)(scheme - ward->servers);
    size_t head = strnlen(scheme, left) + 1 + sizeof(*cert_len);
    if (left < head) {
        return NULL;
    }
    *cert = scheme + head;
    memcpy(cert_len, *cert - sizeof(*cert_len), sizeof(*cert_len));
    if (*cert_len > left - head) {
        return NULL;
    }
    *at = *cert + *cert_len;
    return scheme;
}

/* Returns the position after the string at @at, or NULL if the string does not end before @end. */
static const char *behind(const char *at, const char *end)
{
    const char *zero = at ? memchr(at, '\0', (size_t)(end - at)) : NULL;
    return zero ? zero + 1 : NULL;
}

static bool add_session(struct wards *w,
                        const struct zkr__guardian_record *record,
                        const char *text,
                        size_t size)
{
    const char *tls = behind(text, text + size);
    const char *credentials = behind(tls, text + size);
    struct ward *ward = credentials ? calloc(1, sizeof(*ward)) : NULL;
    if (!ward || !(ward->servers = malloc(size))) {
        free(ward);
        return false;
    }
    memcpy(ward->servers, text, size);
    ward->tls = ward->servers + (tls - text);
    ward->credentials = ward->servers + (credentials - text);
    ward->text_size = size;
    ward->client = record->client;
    ward->session = record->session;
    ward->timeout_ms = (int)record->value;
    memcpy(ward->password, record->password, sizeof(ward->password));
    drop_session(w, record->session);
    LL_PREPEND(w->wards, ward);
    return true;
}

static void drop_group(struct wards *w, uint64_t client)
{
    struct group *group;
    LL_SEARCH_SCALAR(w->groups, group, client, client);
    if (group) {
        LL_DELETE(w->groups, group);
        (void)close(group->fds[ZKR__GROUP_READER]);
        if (group->fds[ZKR__GROUP_WRITER] >= 0) {
            (void)close(group->fds[ZKR__GROUP_WRITER]);
        }
        free(group);
    }
}

static bool add_group(struct wards *w, uint64_t client, const int fds[ZKR__GROUP_FDS])
{
    struct group *group = calloc(1, sizeof(*group));
    if (!group || fds[ZKR__GROUP_READER] < 0) {
        free(group);
        return false;
    }
    group->client = client;
    memcpy(group->fds, fds, sizeof(group->fds));
    drop_group(w, client);
    LL_PREPEND(w->groups, group);
    return true;
}

const struct directory *wards_directory(const struct directory *d, uint64_t client)
{
    while (d && d->client != client) {
        d = d->next;
    }
    return d;
}

static void drop_directories(struct wards *w, uint64_t client, const char *path)
{
    struct directory **at = &w->directories;
    while (*at) {
        struct directory *d = *at;
        if (d->client == client && (path[0] == '\0' || strcmp(d->path, path) == 0)) {
            *at = d->next;
            free(d);
        } else {
            at = &d->next;
        }
    }
}

/* If there is no memory for a directory, its nodes stay until the session times out. */
static bool take_directory(struct wards *w,
                           const struct zkr__guardian_record *record,
                           const char *path,
                           size_t size)
{
    if (size == 0 || path[size - 1] != '\0') {
        return false;
    }
    drop_directories(w, record->client, path);
    struct directory *d = record->value != 0 ? malloc(sizeof(*d) + size) : NULL;
    if (d) {
        d->client = record->client;
        memcpy(d->path, path, size);
        LL_PREPEND(w->directories, d);
    }
    return true;
}

/* Fails if a group cannot be stored, because its sessions must not end before the group is gone. */
bool wards_take(struct wards *w,
                const struct zkr__guardian_record *record,
                const char *text,
                size_t size,
                const int fds[ZKR__GROUP_FDS])
{
    if (record->version != ZKR__GUARDIAN_VERSION) {
        return false;
    }
    switch (record->kind) {
    case ZKR__GUARDIAN_SESSION:
        return add_session(w, record, text, size);
    case ZKR__GUARDIAN_OVER:
    case ZKR__GUARDIAN_CLOSED:
        drop_session(w, record->session);
        return true;
    case ZKR__GUARDIAN_GROUP:
        if (record->value == 0) {
            drop_group(w, record->client);
            return true;
        }
        return add_group(w, record->client, fds);
    case ZKR__GUARDIAN_PIPE:
        return add_group(w, record->client, fds);
    case ZKR__GUARDIAN_DIRECTORY:
        return take_directory(w, record, text, size);
    default:
        return false;
    }
}

int64_t wards_longest_ms(const struct wards *w)
{
    int64_t longest = 0;
    for (const struct ward *ward = w->wards; ward; ward = ward->next) {
        longest = ward->timeout_ms > longest ? ward->timeout_ms : longest;
    }
    return longest;
}
