#!/bin/bash
# Creates the user for replication. The image runs this script once, when it creates the database.
set -euo pipefail

psql --set=ON_ERROR_STOP=1 --set=password="$REPLICATION_PASSWORD" -U "$POSTGRES_USER" -d "$POSTGRES_DB" <<'END'
CREATE ROLE replicator REPLICATION LOGIN PASSWORD :'password';
END
echo 'host replication replicator all scram-sha-256' >> "$PGDATA/pg_hba.conf"
