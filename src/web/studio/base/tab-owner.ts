/** What a browser tab keeps is of one person: the next one may see less. */

/** A part of the browser's storage for one tab. */
type Kept = {
  readonly getItem: (name: string) => string | null;
  readonly setItem: (name: string, text: string) => void;
  readonly removeItem: (name: string) => void;
};
type Person = { readonly name: string; readonly issuer: string; readonly seesData: boolean };

const ownerKey = 'guestlist-studio-owner';

/** Removes these items unless this person kept them, with the same access to data. Null: nobody is logged in. */
export const forgetOfOthers = (kept: Kept, names: readonly string[], person: Person | null): void => {
  const owner = person === null ? null : JSON.stringify([person.issuer, person.name, person.seesData]);
  if (owner !== null && kept.getItem(ownerKey) === owner) return;
  for (const name of [...names, ownerKey]) kept.removeItem(name);
  if (owner !== null) kept.setItem(ownerKey, owner);
};
