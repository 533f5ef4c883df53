#!/bin/sh
# Starts the browser that GUESTLIST_BROWSER names with a lower priority, which everything that it starts inherits.

# Where the kernel groups processes by session, priorities count within a session only, so the group is lowered too.
[ ! -w /proc/self/autogroup ] || { echo "$GUESTLIST_NICENESS" > /proc/self/autogroup; } 2>/dev/null

# Chromium raises its threads again where it may, as root may.
if [ "$(id -u)" = 0 ] && setpriv --bounding-set=-sys_nice true 2>/dev/null; then
  exec setpriv --bounding-set=-sys_nice nice -n "$GUESTLIST_NICENESS" "$GUESTLIST_BROWSER" "$@"
fi
exec nice -n "$GUESTLIST_NICENESS" "$GUESTLIST_BROWSER" "$@"
