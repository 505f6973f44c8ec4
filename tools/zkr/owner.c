/* SPDX-License-Identifier: Apache-2.0 */
#include "owner.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "text.h"

/* --- ours --- */

/* On one line, and no longer than people read. */
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
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    const struct passwd *user = getpwuid(geteuid());
    if (user) {
        (void)fprintf(out, "\nuser=%s", user->pw_name);
    } else {
        (void)fprintf(out, "\nuser=%ld", (long)geteuid());
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

/* --- others' --- */

int64_t owner_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void owner_held(char *buf, size_t size, const zkr_contender *c)
{
    bool known = c->held_since_ms > 0;
    int64_t since = known ? c->held_since_ms : c->created_ms;
    if (!known && size > 0) {
        *buf++ = '<';
        size--;
    }
    text_age(buf, size, owner_now_ms() - since + (known ? 0 : 999));
}

struct line {
    FILE *out;
    bool begun;
    const char *name;
};

static FILE *next(struct line *l)
{
    if (!l->begun) {
        l->begun = true;
        (void)fputs("holder ", l->out);
        text_print(l->out, l->name, 0);
        (void)fputs(": ", l->out);
    } else {
        (void)fputs(", ", l->out);
    }
    return l->out;
}

static void put_field(struct line *l, const zkr_contender *c, const char *key)
{
    const char *value = zkr_contender_field(c, key);
    if (value) {
        (void)fprintf(next(l), "%s ", key);
        text_print(l->out, value, 0);
    }
}

static void put_since(struct line *l, int64_t ms)
{
    enum { STAMP = 32 };
    char stamp[STAMP];
    struct tm tm;
    time_t seconds = (time_t)(ms / 1000);
    if (gmtime_r(&seconds, &tm) &&
        strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &tm) > 0) {
        (void)fprintf(next(l), "since %s UTC", stamp);
    }
}

void owner_print(FILE *out,
                 const zkr_contender *c,
                 const char *name,
                 const char *server)
{
    struct line l = {.out = out, .name = name};
    if (c->held_since_ms > 0) {
        put_since(&l, c->held_since_ms);
    }
    put_field(&l, c, "user");
    put_field(&l, c, "host");
    const char *timeout = zkr_contender_field(c, "session_timeout_ms");
    if (timeout) {
        (void)fputs("session timeout ", next(&l));
        text_print(out, timeout, 0);
        (void)fputs(" ms", out);
    }
    if (server) {
        (void)fputs("session served by ", next(&l));
        text_print(out, server, 0);
    }
    put_field(&l, c, "command");
    if (l.begun) {
        (void)fputc('\n', out);
    }
}
