/** Logs preflights of pages whose origin may not call the gateway: otherwise only the browser of the page says why it failed. */
import type { Clock } from '../../model/ports.js';
import type { Log } from '../../platform/logs/log.js';
import { createCounts } from '../../platform/work/window-counts.js';

const minuteMs = 60_000;
/** Anybody can send any origin, so the lines of all origins together are limited too. */
const linesPerMinute = 10;

/** Returns a function that logs one line a minute for each origin, at most ten lines for all of them. */
export const createRefusedOrigins = ({ clock, log }: { readonly clock: Clock; readonly log: Log }) => {
  const lines = createCounts(minuteMs);
  return (origin: string | undefined): void => {
    if (origin === undefined) return;
    const nowMs = clock.now().getTime();
    const [one, all] = [`origin ${origin.slice(0, 200)}`, 'all'];
    if (lines.waitMs(one, 1, nowMs) > 0 || lines.waitMs(all, linesPerMinute, nowMs) > 0) return;
    lines.add(one, nowMs);
    lines.add(all, nowMs);
    log.warn(
      { event: 'origin.refused', origin: origin.slice(0, 200), setting: 'GUESTLIST_ALLOWED_ORIGINS' },
      'a page of this origin may not call /embed-token; if it is yours, add the origin to GUESTLIST_ALLOWED_ORIGINS (gateway.allowedOrigins; in a mounted gateway, allowedOrigins of createGateway)',
    );
  };
};
