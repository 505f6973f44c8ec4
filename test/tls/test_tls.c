/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks over TLS, with a libzookeeper that was built with OpenSSL and a server that has a port for
 * TLS. ./run tls makes both, and certificates in $ZKT_TLS.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "fixture.h"

enum { SESSION_MS = 4000, PATIENCE_MS = 20000 };

static zkt_server *server;
static char config[1024], secure[32];

/* "CA,client certificate,KEY" of $ZKT_TLS. */
static const char *files(const char *ca, const char *key)
{
    static char text[512];
    const char *dir = getenv("ZKT_TLS");
    (void)snprintf(text, sizeof(text), "%s/%s.pem,%s/client.pem,%s/%s", dir, ca, dir,
                   dir, key);
    return text;
}

static int start(char **argv, int *status)
{
    const char *dir = getenv("ZKT_TLS");
    if (!dir) {
        zkt_fail("no $ZKT_TLS: start this by ./run tls");
    }
    int port;
    (void)close(zkt_listen(&port));
    (void)snprintf(secure, sizeof(secure), "127.0.0.1:%d", port);
    (void)snprintf(
        config, sizeof(config),
        "secureClientPort=%d\nsecureClientPortAddress=127.0.0.1\n"
        "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n"
        "ssl.keyStore.location=%s/server.both.pem\nssl.keyStore.type=PEM\n"
        "ssl.trustStore.location=%s/ca.pem\nssl.trustStore.type=PEM\n",
        port, dir, dir);
    const zkt_server_options o = {.config = config};
    server = zkt_server_start(&o);
    return setenv("ZKR_SERVERS", zkt_server_host(server), 1);
}

__attribute__((constructor)) static void register_it(void)
{
    zkt_at_start(start);
}

static int open_tls(zkr_client **out, const char *hosts, const char *cert)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    o.tls_cert = cert;
    return zkr_client_open(out, hosts, &o);
}

static zkr_client *client(const char *hosts)
{
    zkr_client *c;
    ZKT_MUST(open_tls(&c, hosts, files("ca", "client.key")));
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    return c;
}

enum { CLIENTS = 2, THREADS = 3, TURNS = 20 };
static int counter; /* guarded by the lock */

static void *count_up(void *client)
{
    zkr_mutex *m = zkt_mutex(client);
    for (int i = 0; i < TURNS; i++) {
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        counter++;
        ZKT_MUST(zkr_mutex_release(m));
    }
    zkt_destroy(m);
    return NULL;
}

ZKT_CASE(contenders_take_turns)
{
    zkr_client *clients[CLIENTS];
    pthread_t threads[CLIENTS][THREADS];
    counter = 0;
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = client(secure);
        for (int k = 0; k < THREADS; k++) {
            assert_int_equal(pthread_create(&threads[i][k], NULL, count_up, clients[i]),
                             0);
        }
    }
    for (int i = 0; i < CLIENTS; i++) {
        for (int k = 0; k < THREADS; k++) {
            assert_int_equal(pthread_join(threads[i][k], NULL), 0);
        }
        zkt_close(clients[i]);
    }
    assert_int_equal(counter, CLIENTS * THREADS * TURNS);
}

/* A list of 100 KB is many records of TLS. */
ZKT_CASE(a_long_queue_is_listed)
{
    enum { MANY = 1500 };
    static zkr_ticket *tickets[MANY];
    zkr_client *c = client(secure);
    zkr_mutex *m = zkt_mutex(c);
    for (int i = 0; i < MANY; i++) {
        ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, NULL, NULL, &tickets[i]));
    }
    ZKT_EVENTUALLY(zkt_nodes() == MANY, PATIENCE_MS);
    for (int i = 0; i < MANY; i++) {
        ZKT_MUST(zkr_ticket_wait(tickets[i], PATIENCE_MS));
        ZKT_MUST(zkr_ticket_release(tickets[i]));
        ZKT_MUST(zkr_ticket_destroy(tickets[i]));
    }
    zkt_destroy(m);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    zkt_close(c);
}

ZKT_CASE(a_hold_outlives_a_connection)
{
    zkt_proxy *proxy = zkt_proxy_start_raw(secure);
    zkr_client *c = client(zkt_proxy_host(proxy));
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    int64_t session = zkr_client_session_id(c);
    zkt_proxy_drop_connections(proxy);
    ZKT_EVENTUALLY(zkr_client_state(c) == ZKR_STATE_SUSPENDED, PATIENCE_MS);
    ZKT_EVENTUALLY(zkr_client_state(c) == ZKR_STATE_CONNECTED, PATIENCE_MS);
    assert_int_equal(zkr_client_session_id(c), session);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_destroy(m);
    zkt_close(c);
}

ZKT_CASE(the_next_session_is_one_by_tls)
{
    zkt_proxy *proxy = zkt_proxy_start_raw(secure);
    zkr_client *c = client(zkt_proxy_host(proxy));
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_proxy_cut(proxy);
    ZKT_EVENTUALLY(zkt_nodes() == 0, PATIENCE_MS);
    zkt_proxy_heal(proxy);
    assert_int_equal(zkr_mutex_release(m), ZKR_ESESSION);
    zkt_in_and_out(m);
    zkt_destroy(m);
    zkt_close(c);
}

static void refused(const char *hosts, const char *cert)
{
    zkr_client *c;
    ZKT_MUST(open_tls(&c, hosts, cert));
    assert_int_equal(zkr_client_wait_connected(c, 1500), ZKR_ETIMEDOUT);
    zkt_close(c);
}

ZKT_CASE(a_server_of_another_authority_is_refused)
{
    refused(secure, files("other", "client.key"));
}

ZKT_CASE(tls_to_a_port_without_fails)
{
    refused(zkt_server_host(server), files("ca", "client.key"));
}

ZKT_CASE(files_that_cannot_be_read_are_refused_at_once)
{
    zkr_client *c;
    assert_int_equal(open_tls(&c, secure, files("none", "client.key")), ZKR_EINVAL);
    assert_non_null(strstr(zkr_last_error()->message, "none.pem: No such file"));
    assert_int_equal(open_tls(&c, secure, "one,two"), ZKR_EINVAL);
}

ZKT_CASE(a_key_with_a_password_is_opened)
{
    char cert[600];
    zkr_client *c;
    (void)snprintf(cert, sizeof(cert), "%s,secret", files("ca", "locked.key"));
    ZKT_MUST(open_tls(&c, secure, cert));
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    zkt_close(c);
}

ZKT_CASE(zkr_locks_over_tls)
{
    assert_int_equal(CLI("-z", secure, "--tls", files("ca", "client.key"), "lock",
                         zkt_path(), "sh", "-c", "exit 3"),
                     3);
    assert_non_null(strstr(CLI_SAYS("-z", secure, "--tls", files("ca", "client.key"),
                                    "status", "-v", zkt_path()),
                           " not queried, because its port is a TLS port\n"));
    CLI_REFUSED(75, "-z", secure, "--tls", files("other", "client.key"),
                "--connect-timeout", "2", "lock", zkt_path(), "true");
}

/* The paragraph of docs/operating.md: what Debian's libzookeeper needs, with the configuration that it shows. */
ZKT_CASE(stunnel_brings_tls_to_a_client_without)
{
    char path[300], hosts[32], script[1024];
    const char *dir = getenv("ZKT_TLS");
    int port;
    (void)close(zkt_listen(&port));
    (void)snprintf(hosts, sizeof(hosts), "127.0.0.1:%d", port);
    (void)snprintf(path, sizeof(path), "%s/stunnel.conf", zkt_server_dir(server));
    (void)snprintf(
        script, sizeof(script),
        "sed -e '1i foreground = yes\\npid =' -e 's,^accept = .*,accept = %s,' "
        "-e 's,^connect = .*,connect = %s,' -e 's,^checkHost = .*,checkHost = server,' "
        "-e 's,/etc/zookeeper,%s,' " ZKR_EXAMPLES_DIR "/stunnel.conf >%s",
        hosts, secure, dir, path);
    assert_int_equal(system(script), 0);
    struct cli tunnel, lock;
    cli_spawn(&tunnel, false, (const char *const[]){"/usr/bin/stunnel4", path, NULL});
    assert_int_equal(CLI_RUN(&lock, "-z", hosts, "lock", zkt_path(), "env"), 0);
    assert_non_null(strstr(cli_out(&lock), "ZKR_FENCING_TOKEN="));
    assert_int_equal(kill(tunnel.pid, SIGTERM), 0);
    (void)cli_wait(&tunnel);
}
