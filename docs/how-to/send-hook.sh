#!/usr/bin/env bash
# Signs and sends one hook to a running gateway, by hand or from a script. Needs curl and openssl:
#   GUESTLIST_HOOK_SECRET=whsec_... bash docs/how-to/send-hook.sh tenant-signed-up LAX [webhook-id]
set -euo pipefail
url=${GUESTLIST_URL:-http://127.0.0.1:3000}
event=${1:?the hook, such as tenant-signed-up}
client_id=${2:?the clientId, such as LAX}
id=${3:-evt_$(openssl rand -hex 16)} # the same id again does nothing: keep it when you try again
timestamp=$(date +%s)
# To the second: of two events in the same second the stricter one counts.
body=$(printf '{"clientId":"%s","occurredAt":"%s"}' "$client_id" "$(date -u +%Y-%m-%dT%H:%M:%SZ)")

# The key is what follows whsec_, decoded; what is signed is id, time and body, byte by byte.
key=$(printf '%s' "${GUESTLIST_HOOK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
signature=$(printf '%s' "$id.$timestamp.$body" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)

curl --silent --show-error --fail-with-body "$url/hooks/$event" \
  -H "webhook-id: $id" -H "webhook-timestamp: $timestamp" -H "webhook-signature: v1,$signature" \
  -H 'content-type: application/json' --data "$body"
