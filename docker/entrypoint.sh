#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# entrypoint.sh [COMMAND...]: writes zoo.cfg and myid if they do not exist, from the variables of the official image,
# and then becomes the server, or COMMAND.
set -euo pipefail

write_config() {
    local entry
    printf '%s\n' \
        "dataDir=$ZOO_DATA_DIR" \
        "dataLogDir=$ZOO_DATA_LOG_DIR" \
        "tickTime=$ZOO_TICK_TIME" \
        "initLimit=$ZOO_INIT_LIMIT" \
        "syncLimit=$ZOO_SYNC_LIMIT" \
        "autopurge.snapRetainCount=$ZOO_AUTOPURGE_SNAPRETAINCOUNT" \
        "autopurge.purgeInterval=$ZOO_AUTOPURGE_PURGEINTERVAL" \
        "maxClientCnxns=$ZOO_MAX_CLIENT_CNXNS" \
        "standaloneEnabled=$ZOO_STANDALONE_ENABLED" \
        "admin.enableServer=$ZOO_ADMINSERVER_ENABLED"
    if [ -n "${ZOO_4LW_COMMANDS_WHITELIST:-}" ]; then
        printf '%s\n' "4lw.commands.whitelist=$ZOO_4LW_COMMANDS_WHITELIST"
    fi
    # These are lists of words. The shell must not expand a lone * among them.
    set -f
    for entry in ${ZOO_SERVERS:-server.1=localhost:2888:3888;2181} ${ZOO_CFG_EXTRA:-}; do
        printf '%s\n' "$entry"
    done
    set +f
}

if [ $# -gt 0 ]; then
    exec "$@"
fi

config=$ZOO_CONF_DIR/zoo.cfg
[ -e "$config" ] || write_config >"$config"
[ -e "$ZOO_DATA_DIR/myid" ] || printf '%s\n' "${ZOO_MY_ID:-1}" >"$ZOO_DATA_DIR/myid"

set -f
# shellcheck disable=SC2086 # options are separated by spaces
exec java -cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar \
    -Xmx${ZK_SERVER_HEAP:-1000}m \
    -Dorg.slf4j.simpleLogger.showDateTime=true \
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS" \
    ${SERVER_JVMFLAGS:-} ${JVMFLAGS:-} \
    org.apache.zookeeper.server.quorum.QuorumPeerMain "$config"
