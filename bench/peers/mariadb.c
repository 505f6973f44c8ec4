/* SPDX-License-Identifier: Apache-2.0 */
/* MariaDB with kind=get_lock, or with kind=for_update, where a transaction reads a row in order to change it. */
#include <mysql.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "die.h"
#include "driver.h"

struct lock {
    MYSQL *connection;
    char name[64];
};

static void *nothing(void)
{
    return NULL;
}

static void must(struct lock *l, bool good)
{
    if (!good) {
        bench_die("MariaDB: %s", mysql_error(l->connection));
    }
}

/* Returns the number in the answer, or -1. */
__attribute__((format(printf, 2, 3))) static int
ask(struct lock *l, const char *format, ...)
{
    char text[256];
    int number = -1;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (mysql_query(l->connection, text) != 0) {
        return -1;
    }
    MYSQL_RES *result = mysql_store_result(l->connection);
    MYSQL_ROW row = result ? mysql_fetch_row(result) : NULL;
    if (row && row[0]) {
        number = atoi(row[0]);
    }
    mysql_free_result(result);
    return number;
}

static bool by_name(void)
{
    return strcmp(driver_options.kind, "get_lock") == 0;
}

/* Each contender has its own connection. */
static void *connect_one(void *session, const char *path, int number)
{
    struct lock *l = calloc(1, sizeof(*l));
    const char *port = strrchr(driver_options.servers, ':');
    (void)session, (void)number;
    if (!l || !port || !(l->connection = mysql_init(NULL))) {
        bench_die("out of memory");
    }
    const char *slash = strrchr(path, '/');
    (void)snprintf(l->name, sizeof(l->name), "%s", slash ? slash + 1 : path);
    must(l, mysql_real_connect(l->connection, "127.0.0.1", "bench", "bench", "bench",
                               (unsigned)atoi(port + 1), NULL, 0) != NULL);
    (void)ask(l, "SET innodb_lock_wait_timeout = 1000");
    (void)ask(l, "CREATE TABLE IF NOT EXISTS locks (name VARCHAR(64) PRIMARY KEY) "
                 "ENGINE=InnoDB");
    (void)ask(l, "INSERT IGNORE INTO locks VALUES ('%s')", l->name);
    must(l, mysql_errno(l->connection) == 0);
    return l;
}

static bool lock(void *lock, bool wait)
{
    struct lock *l = lock;
    if (by_name()) {
        int got = ask(l, "SELECT GET_LOCK('%s', %d)", l->name, wait ? 1000 : 0);
        must(l, got >= 0);
        return got == 1;
    }
    must(l, mysql_query(l->connection, "BEGIN") == 0);
    (void)ask(l, "SELECT 1 FROM locks WHERE name = '%s' FOR UPDATE%s", l->name,
              wait ? "" : " NOWAIT");
    if (mysql_errno(l->connection) == 0) {
        return true;
    }
    must(l, !wait);
    must(l, mysql_query(l->connection, "ROLLBACK") == 0);
    return false;
}

static void unlock(void *lock)
{
    struct lock *l = lock;
    if (by_name()) {
        must(l, ask(l, "SELECT RELEASE_LOCK('%s')", l->name) == 1);
    } else {
        must(l, mysql_query(l->connection, "COMMIT") == 0);
    }
}

int main(int argc, char **argv)
{
    static const struct driver_peer peer = {
        .open = nothing, .make = connect_one, .lock = lock, .unlock = unlock};
    return driver_main(argc, argv, &peer);
}
