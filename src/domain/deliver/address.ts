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

/** An @ as it is, and as `identifierOf` of the gateway writes it. Of several, the last one ends the name. */
const addressIn = /([^\s@|<%]?)[^\s|<]*(@|%40)((?:(?!%40)[^\s@|])+)/gi;

/** A user's name for people who may not see data: of an address, only the first character and the domain are left. */
export const maskedAddress = (text: string): string =>
  text.replaceAll(addressIn, (_, first: string, at: string, domain: string) => `${first}…${at}${domain}`);
