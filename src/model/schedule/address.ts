/** The address of a recipient. It comes from a signed session, and is still read as text that may be hostile. */

const longestAddress = 254;
/** No quotes, comments, lists, display names or control characters, so that it is one address in every reading. */
const addressPattern = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@([A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+)$/;

/** A domain does not allow its subdomains. */
export const allows = (allowedDomains: readonly string[], domain: string): boolean =>
  allowedDomains.some((allowed) => allowed.toLowerCase() === domain.toLowerCase());

/**
 * Returns the address if it is one of an allowed domain. A domain does not allow its subdomains, and an empty list
 * allows nothing.
 */
export const readAddress = (value: unknown, allowedDomains: readonly string[]): string | undefined => {
  if (typeof value !== 'string' || value.length > longestAddress) return undefined;
  const domain = addressPattern.exec(value)?.[1];
  return domain !== undefined && allows(allowedDomains, domain) ? value : undefined;
};

/** Domains of one provider, whose mailboxes ignore dots. */
const dotless: Readonly<Record<string, string>> = { 'gmail.com': 'gmail.com', 'googlemail.com': 'gmail.com' };

/**
 * The mailbox of an address, to count by: two addresses that differ in case, in what follows a `+`, or in dots where the
 * provider ignores these have the same one. Mail goes to the address as it was written. Where a provider tells such
 * addresses apart, several mailboxes count as one: they are asked too rarely, never too often.
 */
export const mailboxOf = (address: string): string => {
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1).toLowerCase();
  const local = address.slice(0, at).toLowerCase();
  const [beforeTag = ''] = local.split('+');
  const untagged = beforeTag === '' ? local : beforeTag;
  const provider = Object.hasOwn(dotless, domain) ? dotless[domain] : undefined;
  if (provider === undefined) return `${untagged}@${domain}`;
  return `${untagged.replaceAll('.', '') || untagged}@${provider}`;
};

/** An @ as it is, and as `identifierOf` of the gateway writes it. Of several, the last one ends the name. */
const addressIn = /([^\s@|<%]?)[^\s|<]*(@|%40)((?:(?!%40)[^\s@|])+)/gi;

/** A user's name for people who may not see data: of an address, only the first character and the domain are left. */
export const maskedAddress = (text: string): string =>
  text.replaceAll(addressIn, (_, first: string, at: string, domain: string) => `${first}…${at}${domain}`);
