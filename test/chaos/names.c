/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include <dlfcn.h>
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>

typedef int (*getaddrinfo_fn)(const char *host,
                              const char *service,
                              const struct addrinfo *hints,
                              struct addrinfo **found);

static const struct zkc_control *control;

void zkc_names_begin(const struct zkc_control *of_the_run)
{
    control = of_the_run;
}

/* The linker finds this function before that of the C library, which does the rest. */
int getaddrinfo(const char *host,
                const char *service,
                const struct addrinfo *hints,
                struct addrinfo **found)
{
    union {
        void *symbol;
        getaddrinfo_fn call;
    } next = {dlsym(RTLD_NEXT, "getaddrinfo")};
    int server;
    if (host != NULL && sscanf(host, ZKC_NAME, &server) == 1) {
        if (control == NULL || (hints != NULL && hints->ai_flags & AI_NUMERICHOST)) {
            return EAI_NONAME;
        }
        host = atomic_load(&control->moved) >> server & 1 ? ZKC_THERE : ZKC_HERE;
    }
    return next.call(host, service, hints, found);
}
