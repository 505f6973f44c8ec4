/* SPDX-License-Identifier: Apache-2.0 */
#include "auth.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void auth_end(struct auth *a)
{
    for (size_t i = 0; i < a->count; i++) {
        char *cert = (char *)(uintptr_t)a->list[i].cert;
        if (cert) {
            explicit_bzero(cert, a->list[i].cert_len);
        }
        free(cert);
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
        return "needs more memory than there is";
    }
    a->list = list;
    zkr_auth *one = &list[a->count++];
    one->scheme = strndup(text, (size_t)(colon - text));
    one->cert_len = strlen(colon + 1);
    one->cert = strdup(colon + 1);
    return one->scheme && one->cert ? NULL : "needs more memory than there is";
}

/* --- files --- */

/* Those of the group may read it: a service has one of its own. NULL: it is fine. */
static const char *look_at(int fd, char *buf, size_t size)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return "names what is no file: not a directory, nor a pipe";
    }
    if ((st.st_mode & (S_IRWXO | S_IWGRP)) == 0) {
        return NULL;
    }
    (void)snprintf(buf, size,
                   "names a file that others may use (mode %04o); chmod 600 mends that",
                   (unsigned)st.st_mode & 07777U);
    return buf;
}

static const char *add_lines(struct auth *a, FILE *in, char *buf, size_t size)
{
    char *line = NULL;
    const char *fault = NULL;
    size_t room = 0, number = 0, found = 0;
    while (!fault && getline(&line, &room, in) >= 0) {
        number++;
        line[strcspn(line, "\r\n")] = '\0';
        if (*line == '\0' || *line == '#') {
            continue;
        }
        found++;
        if (auth_add(a, line)) {
            (void)snprintf(buf, size,
                           "names a file whose line %zu is not "
                           "SCHEME:CREDENTIALS",
                           number);
            fault = buf;
        }
    }
    if (line) {
        explicit_bzero(line, room);
    }
    free(line);
    return fault || found > 0 ? fault : "names a file without credentials";
}

const char *auth_add_file(struct auth *a, const char *file, char *buf, size_t size)
{
    int fd =
        open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe may have no writer */
    if (fd < 0) {
        (void)snprintf(buf, size, "names a file that cannot be read: %.100s: %s", file,
                       strerrordesc_np(errno));
        return buf;
    }
    const char *fault = look_at(fd, buf, size);
    FILE *in = fault ? NULL : fdopen(fd, "re");
    if (!in) {
        (void)close(fd);
        return fault ? fault : "needs more memory than there is";
    }
    char own[BUFSIZ]; /* so that it can be wiped */
    (void)setvbuf(in, own, _IOFBF, sizeof(own));
    fault = add_lines(a, in, buf, size);
    (void)fclose(in);
    explicit_bzero(own, sizeof(own));
    return fault;
}
