/* SPDX-License-Identifier: Apache-2.0 */
#include "acl.h"

#include <stdlib.h>
#include <string.h>

static const char wanted[] =
    "needs open, creator, or SCHEME:ID:PERMS,... with PERMS of "
    "the letters crdwa";

void acl_end(struct acl *a)
{
    free(a->list.data);
    free(a->text);
    *a = (struct acl){.text = NULL};
}

/* As ZooKeeper numbers them. 0: they are none. */
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

/* The id may have colons in it. */
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

static size_t count_commas(const char *text)
{
    size_t commas = 0;
    for (; *text; text++) {
        commas += *text == ',';
    }
    return commas;
}

const char *acl_take(struct acl *a, const char *text)
{
    acl_end(a);
    if (strcmp(text, "open") == 0) {
        return NULL;
    }
    a->text = strdup(strcmp(text, "creator") == 0 ? "auth::cdrwa" : text);
    a->list.data = calloc(count_commas(text) + 1, sizeof(*a->list.data));
    if (!a->text || !a->list.data) {
        return "needs more memory than there is";
    }
    for (char *rest = a->text; rest;) {
        char *entry = strsep(&rest, ",");
        if (!parse_entry(&a->list.data[a->list.count++], entry)) {
            acl_end(a);
            return wanted;
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
