/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stripes SERVERS PATH DIR TIMES KEY...: adds 1 to the number in the file DIR/KEY of each key, under the lock of that
 * key, TIMES times. All keys share 16 locks below PATH. First prints the lock of each key.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zkr/zkr.h>

enum { STRIPES = 16 }; /* must be the same in all programs that use these locks */

/* FNV-1a. The result depends only on the bytes of the key, in any program and any language. */
static unsigned stripe_of(const char *key)
{
    uint32_t hash = 2166136261U;
    for (; *key != '\0'; key++)
        hash = (hash ^ (unsigned char)*key) * 16777619U;
    return hash % STRIPES;
}

static int
make_stripes(zkr_client *client, const char *path, zkr_mutex *stripes[STRIPES])
{
    char name[512];
    int rc = ZKR_OK;
    for (unsigned i = 0; i < STRIPES && rc == ZKR_OK; i++) {
        snprintf(name, sizeof(name), "%s/%u", path, i);
        rc = zkr_mutex_create(&stripes[i], client, name, NULL); /* sends no request */
    }
    return rc;
}

/* Reads and writes the number. Without a lock, processes that run at the same time undo each other's work. */
static int add_one(const char *dir, const char *key)
{
    char name[512], text[32] = "";
    snprintf(name, sizeof(name), "%s/%s", dir, key);
    FILE *file = fopen(name, "r");
    if (file && !fgets(text, sizeof(text), file))
        text[0] = '\0';
    if (file)
        fclose(file);
    else if (errno != ENOENT)
        return -1;
    file = fopen(name, "w");
    if (!file)
        return -1;
    fprintf(file, "%ld\n", strtol(text, NULL, 10) + 1);
    return fclose(file);
}

static int update(zkr_mutex *const stripes[STRIPES], const char *dir, const char *key)
{
    zkr_mutex *mutex = stripes[stripe_of(key)];
    int rc = zkr_mutex_acquire(mutex, 30000);
    if (rc != ZKR_OK)
        return rc;
    int failed = zkr_mutex_valid_for_ms(mutex) > 100 ? add_one(dir, key) : -1;
    rc = zkr_mutex_release(mutex);
    return failed ? ZKR_ESYS : rc;
}

static int update_all(zkr_mutex *const stripes[STRIPES], char **argv)
{
    int rc = ZKR_OK;
    for (char **key = argv + 5; *key; key++)
        printf("%s is at %s/%u\n", *key, argv[2], stripe_of(*key));
    fflush(stdout);
    for (long times = strtol(argv[4], NULL, 10); times > 0; times--) {
        for (char **key = argv + 5; *key && rc == ZKR_OK; key++)
            rc = update(stripes, argv[3], *key);
    }
    return rc;
}

int main(int argc, char **argv)
{
    zkr_client *client = NULL;
    zkr_mutex *stripes[STRIPES] = {NULL};
    if (argc < 6) {
        fputs("usage: stripes SERVERS PATH DIR TIMES KEY...\n", stderr);
        return 64;
    }
    int rc = zkr_client_open(&client, argv[1], NULL);
    if (rc == ZKR_OK)
        rc = make_stripes(client, argv[2], stripes);
    if (rc == ZKR_OK)
        rc = update_all(stripes, argv);
    if (rc != ZKR_OK)
        fprintf(stderr, "stripes: %s: %s\n", zkr_err_name(rc),
                zkr_last_error()->message);
    for (unsigned i = 0; i < STRIPES; i++)
        zkr_mutex_destroy(stripes[i]);
    zkr_client_close(client);
    return rc == ZKR_OK ? 0 : 1;
}
