#!/usr/bin/env bash
# Makes a folder with the peers of `npm run bench -- query`: bash test/bench/query/peers.sh FOLDER, then BENCH_PEERS=FOLDER.
# Cube is an old one: newer ones download a binary as they install. None of it belongs to the project.
set -euo pipefail
folder=${1:?name a folder}
mkdir -p "$folder/cube" "$folder/drizzle"
(cd "$folder/cube" && npm init -y >/dev/null && npm i --ignore-scripts --no-audit --no-fund \
  @cubejs-backend/server@0.34.62 @cubejs-backend/postgres-driver@0.35.81 jsonwebtoken@9)
(cd "$folder/drizzle" && npm init -y >/dev/null && npm i --legacy-peer-deps --ignore-scripts --no-audit --no-fund \
  drizzle-cube@0.5.5 drizzle-orm@0.45.4 express@5 pg@8)
