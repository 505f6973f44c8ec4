/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness FILE: the program that `zkr lock` and similar commands run under their lock. It fails if another instance
 * runs at the same time.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int fd = argc == 2 ? open(argv[1], O_CREAT | O_EXCL | O_WRONLY, 0600) : -1;
    if (fd < 0) {
        (void)fprintf(stderr, "witness: not alone\n");
        return 99;
    }
    return close(fd) != 0 || unlink(argv[1]) != 0;
}
