/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork SERVERS PATH: a process that holds a lock forks. The child cannot use or release its parent's lock. It opens its
 * own client, and contends like any other process.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zkr/zkr.h>

static void say(const char *who, const char *what, int rc)
{
    printf("%s: %s: %s\n", who, what, zkr_err_name(rc));
    fflush(stdout);
}

static int child(const char *servers, const char *path, zkr_mutex *parents)
{
    zkr_client *client = NULL;
    zkr_mutex *mutex = NULL;
    say("child", "release the parent's lock", zkr_mutex_release(parents));
    int rc = zkr_client_open(&client, servers, NULL);
    if (rc == ZKR_OK) {
        rc = zkr_mutex_create(&mutex, client, path, NULL);
    }
    if (rc == ZKR_OK) {
        say("child", "try the lock", zkr_mutex_acquire(mutex, 1000));
    }
    zkr_mutex_destroy(mutex);
    zkr_client_close(client);
    return rc == ZKR_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: fork SERVERS PATH\n", stderr);
        return 64;
    }
    zkr_client *client = NULL;
    zkr_mutex *mutex = NULL;
    int rc = zkr_client_open(&client, argv[1], NULL);
    if (rc == ZKR_OK) {
        rc = zkr_mutex_create(&mutex, client, argv[2], NULL);
    }
    if (rc == ZKR_OK) {
        rc = zkr_mutex_acquire(mutex, 30000);
    }
    int status = 1;
    if (rc == ZKR_OK) {
        pid_t pid = fork();
        if (pid == 0) {
            _exit(child(argv[1], argv[2], mutex));
        }
        if (pid > 0) {
            waitpid(pid, &status, 0);
        }
        rc = zkr_mutex_release(mutex);
        say("parent", "release", rc);
    } else {
        fprintf(stderr, "fork: %s\n", zkr_last_error()->message);
    }
    zkr_mutex_destroy(mutex);
    zkr_client_close(client);
    return rc == ZKR_OK && status == 0 ? 0 : 1;
}
