import { readHost } from '../../model/host.js';

/** A server that the operator allowed. `port` is null if every port is allowed. */
export type AllowedHost = { readonly host: string; readonly port: number | null };

const maximumPort = 65_535;

/**
 * Reads `host`, `host:port`, `[address]` or `[address]:port`. An IPv6 address with more than one colon may omit the
 * brackets. Returns undefined if the entry has none of these forms.
 */
export const readAllowedHost = (entry: string): AllowedHost | undefined => {
  const parts = /^(\[[^\]]+\]|[^:[\]]+):([0-9]{1,5})$/.exec(entry);
  const host = readHost(parts?.[1] ?? entry);
  const port = parts === null ? null : Number(parts[2]);
  if (host === undefined || (port !== null && (port < 1 || port > maximumPort))) return undefined;
  return { host, port };
};
