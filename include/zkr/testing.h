/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file testing.h
 * Private servers and faults on demand, for tests of programs that use locks.
 *
 * A program must react correctly when it loses a lock that it holds. With this library, a test can cause such a loss.
 * The library is not part of libzkrecipes. Link with `pkg-config --libs zkrecipes-testing`, or with
 * `zkrecipes::testing` of CMake.
 *
 *     zkr_test_server_start(&server, NULL);
 *     zkr_client_open(&client, zkr_test_server_host(server), NULL);
 *     ... the program acquires a lock at /locks/backup, in this process or in another process ...
 *     zkr_test_expire_holder(zkr_test_server_host(server), "/locks/backup");
 *     ... the program must stop its work ...
 *
 * | fault | function | the holder is notified |
 * |---|---|---|
 * | its session ends | zkr_test_expire_holder() | when it reconnects, in less than a second |
 * | its node is deleted | zkr_test_delete_holder() | within milliseconds, if it has held for a tenth of its session timeout |
 * | its connection breaks, and works again | zkr_test_proxy_drop() | never, because it keeps the lock |
 * | it is cut off | zkr_test_proxy_cut() | when its lease ends, before its session ends |
 * | its connection is silent | zkr_test_proxy_silence() | when its lease ends |
 * | a request or its answer is lost | zkr_test_proxy_lose_request(), zkr_test_proxy_lose_reply() | never |
 * | servers freeze or die | zkr_test_server_freeze(), zkr_test_server_kill() | when its lease ends |
 *
 * The last column applies to holders that use zkrecipes, on servers that this library has started. Only faults that end
 * the lease show how zkr_mutex_valid_for_ms() counts down. If a session is ended from outside or a node is deleted, the
 * servers grant the lock to the next contender at once, and nothing can notify the holder earlier.
 *
 * **Habits** are deviations of servers that support the protocol but are not ZooKeeper. zkr_test_proxy_habits()
 * imitates these deviations.
 *
 * **Servers** are child processes. Each server listens on free ports of 127.0.0.1, and has a separate directory below
 * $TMPDIR or /tmp, with its log. The stop function, or the exit of your process, ends the server and removes the
 * directory. If your process is killed, its servers also die, and the first program that starts a server at least ten
 * minutes later removes the directory. Any number of programs can run servers at the same time. A server starts in
 * about a second.
 *
 * A server needs Java and ZooKeeper's jar. On Debian and Ubuntu, these are the packages default-jre-headless and
 * zookeeper. To use another java, set $ZKR_TEST_JAVA. To use other jars, set $ZKR_TEST_CLASSPATH to
 * "DIR/zookeeper.jar:DIR/lib/...", as for Java's -cp.
 *
 * On Linux, a server also dies when the **thread** that started it ends. Start servers from a thread that lasts.
 *
 * **Fork.** A forked child cannot use the servers and proxies of its parent: all functions that list this case return
 * ZKR_ESTATE. The child may connect to them, and may start its own servers and proxies.
 *
 * All functions may be called from any thread, but not while another thread stops the same object.
 */
#ifndef ZKR_TESTING_H
#define ZKR_TESTING_H

#include <zkr/test_loss.h>
#include <zkr/test_proxy.h>
#include <zkr/test_server.h>

#endif
