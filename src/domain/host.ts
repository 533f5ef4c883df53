/** Names and IPv4 addresses, or IPv6 addresses. No socket path, no list, no user, no wildcard. */
const hostPattern = /^(?:[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?|(?:[0-9a-f]{0,4}:){2,7}(?:[0-9a-f]{0,4}|[0-9.]{7,15}))$/;

/**
 * The one spelling of a server's host, in which hosts are stored and compared: lower case, without the brackets of an IPv6 address
 * and without the dot at the end. Undefined for what is no host.
 */
export const readHost = (text: string): string | undefined => {
  const bare = /^\[([^\]]*:[^\]]*)\]$/.exec(text)?.[1] ?? text.replace(/\.$/, '');
  const host = bare.toLowerCase();
  return hostPattern.test(host) && !host.includes('..') ? host : undefined;
};
