/* SPDX-License-Identifier: Apache-2.0 */
#include "access.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "secret.h"

const char access_no_memory[] = "cannot be used: out of memory";

/* --- credentials --- */

void auth_end(struct auth *a)
{
    for (size_t i = 0; i < a->count; i++) {
        secret_free((char *)(uintptr_t)a->list[i].cert, a->list[i].cert_len);
        free((char *)(uintptr_t)a->list[i].scheme);
    }
    free(a->list);
    *a = (struct auth){.list = NULL};
}

const char *auth_add(struct auth *a, const char *text)
{
    const char *colon = strchr(text, ':');
    if (!colon || colon == text) {
        return "needs SCHEME:CREDENTIALS";
    }
    zkr_auth *list = reallocarray(a->list, a->count + 1, sizeof(*list));
    if (!list) {
        return access_no_memory;
    }
    a->list = list;
    zkr_auth *one = &list[a->count++];
    one->scheme = strndup(text, (size_t)(colon - text));
    one->cert_len = strlen(colon + 1);
    one->cert = strdup(colon + 1);
    return one->scheme && one->cert ? NULL : access_no_memory;
}

/*
 * Refuses a file that is not regular, or that others can access. The group may read the file, because a service often
 * has its own group. Returns NULL if the file is acceptable.
 */
static const char *check_mode(mode_t mode, char *buf, size_t size)
{
    if (!S_ISREG(mode)) {
        return "must name a regular file";
    }
    if ((mode & (S_IRWXO | S_IWGRP)) == 0) {
        return NULL;
    }
    (void)snprintf(buf, size,
                   "names a file that others can access (mode %04o); set mode 600",
                   (unsigned)mode & 07777U);
    return buf;
}

static const char *add_lines(struct auth *a, char *text, char *buf, size_t size)
{
    size_t before = a->count;
    for (int number = 1; text; number++) {
        char *line = strsep(&text, "\n");
        line[strcspn(line, "\r")] = '\0';
        if (*line != '\0' && *line != '#' && auth_add(a, line)) {
            (void)snprintf(buf, size,
                           "names a file whose line %d is not SCHEME:CREDENTIALS",
                           number);
            return buf;
        }
    }
    return a->count > before ? NULL : "names a file without credentials";
}

const char *auth_add_file(struct auth *a, const char *file, char *buf, size_t size)
{
    mode_t mode;
    char *text = secret_read(file, &mode);
    if (!text && (mode == 0 || S_ISREG(mode))) {
        (void)snprintf(buf, size, "names a file that cannot be read: %.100s: %s", file,
                       strerrordesc_np(errno));
        return buf;
    }
    const char *fault = check_mode(mode, buf, size);
    fault = fault ? fault : add_lines(a, text, buf, size);
    secret_free(text, SECRET_MOST);
    return fault;
}

/* --- the ACL --- */

void acl_end(struct acl *a)
{
    free(a->list.data);
    free(a->text);
    *a = (struct acl){.text = NULL};
}

/* Returns ZooKeeper's permission bits, or 0 if a letter is not a permission. */
static int32_t parse_perms(const char *letters)
{
    static const char order[] = "rwcda";
    int32_t perms = 0;
    for (; *letters; letters++) {
        const char *at = strchr(order, *letters);
        if (!at) {
            return 0;
        }
        perms |= 1 << (at - order);
    }
    return perms;
}

/* Splits SCHEME:ID:PERMS. The ID may contain colons. */
static bool parse_entry(struct ACL *entry, char *text)
{
    char *first = strchr(text, ':'), *last = strrchr(text, ':');
    if (!first || first == text || last == first) {
        return false;
    }
    *first = *last = '\0';
    entry->id.scheme = text;
    entry->id.id = first + 1;
    entry->perms = parse_perms(last + 1);
    return entry->perms != 0;
}

const char *acl_take(struct acl *a, const char *text)
{
    acl_end(a);
    if (strcmp(text, "open") == 0) {
        return NULL;
    }
    a->text = strdup(strcmp(text, "creator") == 0 ? "auth::cdrwa" : text);
    a->list.data = calloc(strlen(text) + 1, sizeof(*a->list.data));
    if (!a->text || !a->list.data) {
        return access_no_memory;
    }
    for (char *rest = a->text; rest;) {
        char *entry = strsep(&rest, ",");
        if (!parse_entry(&a->list.data[a->list.count++], entry)) {
            acl_end(a);
            return "must be open, creator, or SCHEME:ID:PERMS,... with PERMS from the "
                   "letters crdwa";
        }
    }
    return NULL;
}

bool acl_needs_auth(const struct acl *a)
{
    for (int32_t i = 0; i < a->list.count; i++) {
        if (strcmp(a->list.data[i].id.scheme, "auth") == 0) {
            return true;
        }
    }
    return false;
}
