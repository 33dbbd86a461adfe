#!/bin/bash
# Starts PostgreSQL. If $FOLLOWS names a server and there is no data yet, copies that server and starts as its standby.
set -euo pipefail

if [ -n "${FOLLOWS:-}" ] && [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  chown postgres:postgres "$PGDATA"
  chmod 700 "$PGDATA"
  source="host=$FOLLOWS user=replicator password=$REPLICATION_PASSWORD"
  until gosu postgres pg_basebackup --dbname="$source" --pgdata="$PGDATA" --write-recovery-conf --checkpoint=fast; do
    echo "carrel: $FOLLOWS can't be copied yet" >&2
    sleep 2
  done
fi
exec docker-entrypoint.sh "$@"
