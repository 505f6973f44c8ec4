/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy DELAY_MS TARGET...: runs a proxy for each host:port, which delays all traffic by DELAY_MS in each direction.
 * Prints the addresses of the proxies. For each line of input, prints how many bytes have passed so far, in both
 * directions.
 */
#include <stdio.h>
#include <stdlib.h>

#include <zkr/testing.h>

enum { MOST = 16 };

static void must(int rc)
{
    if (rc != ZKR_OK) {
        (void)fprintf(stderr, "proxy: %s: %s\n", zkr_err_name(rc),
                      zkr_last_error()->message);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    zkr_test_proxy *proxies[MOST];
    zkr_test_proxy_options options = ZKR_TEST_PROXY_OPTIONS_INIT;
    char line[16];
    int count = argc - 2;
    if (count < 1 || count > MOST) {
        (void)fprintf(stderr, "usage: proxy DELAY_MS TARGET...\n");
        return 64;
    }
    options.raw = 1; /* passes any protocol */
    for (int i = 0; i < count; i++) {
        must(zkr_test_proxy_start(&proxies[i], argv[i + 2], &options));
        must(zkr_test_proxy_delay(proxies[i], ZKR_TEST_BOTH_WAYS,
                                  strtol(argv[1], NULL, 10)));
        printf("%s%s", i > 0 ? "," : "", zkr_test_proxy_host(proxies[i]));
    }
    printf("\n");
    (void)fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        long long bytes = 0;
        for (int i = 0; i < count; i++) {
            zkr_test_counts c;
            must(zkr_test_proxy_counts(proxies[i], &c, sizeof(c)));
            bytes += c.bytes[0] + c.bytes[1];
        }
        printf("%lld\n", bytes);
        (void)fflush(stdout);
    }
    for (int i = 0; i < count; i++) {
        (void)zkr_test_proxy_stop(proxies[i]);
    }
    return 0;
}
