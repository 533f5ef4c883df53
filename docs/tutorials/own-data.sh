#!/usr/bin/env bash
# From a database file to a tenant's first numbers, over the interface alone. Needs a running Guestlist, its service token
# and a DuckDB file in a folder that it may read: here the demo's flights. Run it with Node (it reads JSON with it) and curl:
#   npm start &   then   bash docs/tutorials/own-data.sh
set -euo pipefail
url=${GUESTLIST_URL:-http://127.0.0.1:3000}
data=$(cd "${GUESTLIST_DATA_DIR:-./data}" && pwd)
field() { node -pe "JSON.parse(require('fs').readFileSync(0, 'utf8')).$1"; }
service_token=${GUESTLIST_SERVICE_TOKEN:-$(field serviceToken < "$data/credentials.json")}

# call CREDENTIAL METHOD PATH BODY: prints the answer, and ends the script where it is an error.
call() {
  curl --silent --show-error --fail-with-body -X "$2" "$url/api/v2$3" -H "authorization: Bearer $1" \
    -H 'content-type: application/json' --data "$4" || { echo " <- $2 $3" >&2; return 1; }
}

echo '1. a datasource: where the rows are'
call "$service_token" POST /datasource '{"datasourceType": "DUCKDB",
  "credentials": {"name": "planes", "path": "'"$data"'/demo/flights.duckdb"}}'; echo

echo '2. a datamart: which tables and columns, whose the rows are by which column, and which tables are for all'
call "$service_token" POST /data-app/datamarts '{
  "name": "planes", "datasourceName": "planes",
  "tenancySettings": {"tenancyLevel": "TABLE", "clientColumnType": "STRING", "schemaName": "main", "tableName": "tenants",
    "tablePrimaryKeyColumn": "iata", "tableClientNameColumn": "name"},
  "tableList": [
    {"name": "flights", "clientColumn": "origin",
     "columns": [{"name": "origin"}, {"name": "destination"}, {"name": "date"}, {"name": "delay"}]},
    {"name": "airports", "columns": [{"name": "iata"}, {"name": "state"}]}],
  "sharedTables": ["airports"],
  "relationships": [{"relationshipName": "destination", "cardinality": "ManyToOne",
    "parentTableName": "flights", "parentColumnName": "destination",
    "childTableName": "airports", "childColumnName": "iata"}]}'; echo

echo '3. a workspace, and a dashboard in it that every tenant gets a copy of'
call "$service_token" POST /workspace '{"name": "planes", "connectionType": "DATAMART", "datamartName": "planes"}'; echo
call "$service_token" POST /data-app/import-dashboard '{
  "workspaceName": "planes", "dashboardId": "departures", "dashboardName": "Departures",
  "importDashboardData": {
    "gridMargin": [],
    "layout": [{"metricId": "by-state", "x": 0, "y": 0, "w": 12, "h": 6}],
    "filters": [{"name": "State", "dataType": "string", "applyOnTables": [
      {"schemaName": "main", "tableName": "airports", "columnName": "state", "dataType": "string"}]}],
    "metrics": [{"metricId": "by-state", "name": "Flights by state", "definition": {
      "kind": "visual", "chart": {"type": "bar"},
      "from": {"schemaName": "main", "tableName": "flights"},
      "dimensions": [{"name": "State", "column": {"schemaName": "main", "tableName": "airports", "columnName": "state"}}],
      "measures": [{"name": "Flights", "aggregate": "COUNT"}],
      "sort": [{"name": "Flights", "direction": "DESC"}], "limit": 5}}]}}'; echo

echo '4. a data app with its key: what your backend calls with'
call "$service_token" POST /data-app '{"name": "planes"}'; echo
api_key=$(call "$service_token" POST /data-app/api-tokens '{"dataAppName": "planes", "name": "backend"}' | field key)

for tenant in ATL LAX; do
  dashboard=departures--$tenant

  echo "5. the copy of one tenant, $tenant, and a token that opens it for an hour (the gateway does both for you)"
  call "$api_key" POST /data-app/dashboard-embeds '{
    "dashboardId": "'"$dashboard"'", "clientId": "'"$tenant"'", "workspaceName": "planes",
    "templateDashboardId": "departures", "isImportMetrics": true,
    "accessSettings": {"datamartName": "planes", "metricCreationMode": "DRAG_DROP", "isAllowEmailReports": false,
      "isAllowManageMetrics": false, "isAllowCreateDashboardView": false, "isAllowMetricCreation": false,
      "isAllowMetricDeletion": false, "isAllowMetricLayoutChange": false, "isAllowMetricUpdate": false,
      "isAllowUnderlyingData": false}}'; echo
  guest_token=$(call "$api_key" POST /guest-token/create '{"clientId": "'"$tenant"'", "dataAppName": "planes",
    "expiryTime": 3600000, "params": {"allowedEmbeds": ["'"$dashboard"'"]}}' | field token)

  echo "6. what the front end reads with it: the rows of $tenant, and of nobody else"
  metric=$(curl --silent --fail-with-body "$url/api/v2/guest/dashboards/$dashboard" \
    -H "authorization: Bearer $guest_token" | field 'data.metrics[0].metricId')
  call "$guest_token" POST "/guest/metrics/$metric/query" '{"dashboardId": "'"$dashboard"'"}'; echo
done
