#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# libzookeeper_mt 3.8.0-11+deb12u2 with glibc 2.36 (Debian 12): a numeric loopback address can be invalid.
#
# On a host whose only address besides loopback is an IPv6 address, zookeeper_init("127.0.0.1:2181") fails with EINVAL,
# although 127.0.0.1 is up and a server listens there. On an IPv4 host, "::1" fails. libzookeeper resolves with
# AI_ADDRCONFIG. glibc applies that flag to numeric addresses too, and to loopback addresses, which it does not count as
# configured ones. "::ffff:127.0.0.1", the same address mapped into IPv6, works on both hosts. The hosts are network
# namespaces. To create them, the script needs root or user namespaces, ip and unshare.
#
#   IPv6 host: 127.0.0.1 Invalid argument, ::1 connects, ::ffff:127.0.0.1 connects
#   IPv4 host: 127.0.0.1 connects, ::1 Invalid argument, ::ffff:127.0.0.1 connects
set -eu
# shellcheck source=findings/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

fetch libzookeeper-mt2=3.8.0-11+deb12u2
cat >"$tmp/host.py" <<'PYTHON'
import ctypes, os, select, socket, sys

zk = ctypes.CDLL(sys.argv[2], use_errno=True)
zk.zookeeper_init.restype = ctypes.c_void_p
zk.zoo_set_debug_level(0)
results = []
for address in "127.0.0.1", "::1", "::ffff:127.0.0.1":
    listener = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    hosts = "%s:%d" % (address, listener.getsockname()[1])
    handle = zk.zookeeper_init(hosts.encode(), None, 2000, None, None, 0)
    if not handle:
        results.append("%s %s" % (address, os.strerror(ctypes.get_errno())))
        continue
    connects = select.select([listener], [], [], 5)[0]
    results.append("%s %s" % (address, "connects" if connects else "does not connect"))
    zk.zookeeper_close(ctypes.c_void_p(handle))
print("%s host: %s" % (sys.argv[1], ", ".join(results)))
PYTHON

space=(unshare --net)
[ "$(id -u)" = 0 ] || space+=(--map-root-user)
on_host() { # FAMILY ADDRESS
    # shellcheck disable=SC2016 # the shell in there expands it
    "${space[@]}" sh -c 'ip link set lo up && ip address add "$2" dev lo && exec /usr/bin/python3 "$1" "$3" "$4"' \
        sh "$tmp/host.py" "$2" "$1" "$library"
}

"${space[@]}" ip link set lo up || unable 'no network namespace'
seen=$(
    on_host IPv6 fd00::1/64
    on_host IPv4 192.0.2.1/24
)
same "$seen" <<'EXPECTED'
IPv6 host: 127.0.0.1 Invalid argument, ::1 connects, ::ffff:127.0.0.1 connects
IPv4 host: 127.0.0.1 connects, ::1 Invalid argument, ::ffff:127.0.0.1 connects
EXPECTED
