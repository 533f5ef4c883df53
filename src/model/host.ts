/** Host names, IPv4 addresses and IPv6 addresses. Socket paths, lists, user names and wildcards do not match. */
const hostPattern = /^(?:[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?|(?:[0-9a-f]{0,4}:){2,7}(?:[0-9a-f]{0,4}|[0-9.]{7,15}))$/;

/**
 * Returns the normalized form in which hosts are stored and compared: lower case, without the brackets of an IPv6
 * address, without a final dot. Undefined if the text is not a host.
 */
export const readHost = (text: string): string | undefined => {
  const bare = /^\[([^\]]*:[^\]]*)\]$/.exec(text)?.[1] ?? text.replace(/\.$/, '');
  const host = bare.toLowerCase();
  return hostPattern.test(host) && !host.includes('..') ? host : undefined;
};
