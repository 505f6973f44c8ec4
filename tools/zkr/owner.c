/* SPDX-License-Identifier: Apache-2.0 */
#include "owner.h"

#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

/* Writes the command on one line, and truncates it if it is long. */
static void put_command(FILE *out, char *const *command)
{
    enum { MOST = 256 };
    bool is_text = command[0] && command[1] && strcmp(command[1], "-c") == 0;
    int left = MOST;
    for (char *const *word = is_text ? command + 2 : command; *word; word++) {
        for (const char *s = *word; *s && left > 0;) {
            uint32_t point;
            size_t length = text_decode(s, &point);
            bool plain = length > 0 && point >= ' ' && point != 0x7f;
            left -= (int)(length > 0 ? length : 1);
            (void)fwrite(plain ? s : " ", 1, plain ? length : 1, out);
            s += length > 0 ? length : 1;
        }
        if (left <= 0) {
            (void)fputs("...", out);
            return;
        }
        (void)fputs(word[1] ? " " : "", out);
    }
}

static void put_user(FILE *out)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread exists yet */
    const struct passwd *user = getpwuid(geteuid());
    (void)fprintf(out, "\nuser=%s", user ? user->pw_name : "");
    if (!user) {
        (void)fprintf(out, "%ld", (long)geteuid());
    }
}

char *owner_text(char *const *command)
{
    enum { HOST_ROOM = 256 };
    char host[HOST_ROOM] = "";
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    (void)gethostname(host, sizeof(host) - 1);
    (void)fprintf(out, "%s/%ld/%ld\nhost=%s", host, (long)getpid(), (long)gettid(),
                  host);
    put_user(out);
    if (command) {
        (void)fputs("\ncommand=", out);
        put_command(out, command);
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
