#!/bin/bash
# Starts PostgreSQL. One without data that is to follow another ($FOLLOWS) begins as a copy of it, and goes on as its standby.
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
