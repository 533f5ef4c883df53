/**
 * What a process does not know, it does not use: a stored value with a part that this release does not know is not read
 * at all. The part may restrict what is seen, such as a column that a newer release hides.
 */
import { isRecord } from '../../model/is-record.js';
import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { DependencyUnavailable } from '../../model/unavailable.js';

/** Returns the place of the first part that is not known, such as `.tables[0].later`; undefined: all of it is known. */
export type Known = (value: unknown) => string | undefined;

/** The names of the fields of a type, of each member of a union. */
type FieldOf<T> = T extends unknown ? keyof T & string : never;

const isLeft = (value: unknown): boolean => value === undefined || value === null;
const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;

/** Only of what says how something looks: whatever it is, it restricts nobody. */
export const anything: Known = () => undefined;

/** A text, a number, a boolean or null. */
export const scalar: Known = (value) => (isScalar(value) ? undefined : '');

/** A closed set of texts. The compiler asks for all of them. */
export const words = <T extends string>(all: Readonly<Record<T, true>>): Known => {
  const known = new Set<unknown>(Object.keys(all));
  return (value) => (isLeft(value) || known.has(value) ? undefined : '');
};

/** As `words`, of a list. */
export const wordsOf = (all: readonly string[]): Known => words(Object.fromEntries(all.map((word) => [word, true])));

/** A text of this form. */
export const textLike =
  (pattern: RegExp): Known =>
  (value) =>
    typeof value === 'string' && pattern.test(value) ? undefined : '';

export const list =
  (item: Known): Known =>
  (value) => {
    if (isLeft(value)) return undefined;
    if (!Array.isArray(value)) return '';
    for (let index = 0; index < value.length; index += 1) {
      const place = item(value[index]);
      if (place !== undefined) return `[${index}]${place}`;
    }
    return undefined;
  };

const membersOf =
  (knownOf: (name: string) => Known | undefined): Known =>
  (value) => {
    if (isLeft(value)) return undefined;
    if (!isRecord(value)) return '';
    for (const name of Object.keys(value)) {
      const known = knownOf(name);
      const place = known === undefined ? '' : known(value[name]);
      if (place !== undefined) return `.${name}${place}`;
    }
    return undefined;
  };

/** An object whose names are those of users, such as the values of filters. */
export const byName = (member: Known): Known => membersOf(() => member);

/** An object. The compiler asks for every field of the type, so a new one cannot be left out. */
export const fields = <T>(parts: Readonly<Record<FieldOf<T>, Known>>): Known => {
  const known = new Map<string, Known>(Object.entries(parts));
  return membersOf((name) => known.get(name));
};

/** A row. A column that a later migration added counts where it holds something. The compiler asks for every other one. */
export const columns = <Row>(all: Readonly<Record<FieldOf<Row>, true>>): Known => {
  const known = new Set(Object.keys(all));
  return (row) => {
    const later = Object.entries(isRecord(row) ? row : {}).find(([name, value]) => !isLeft(value) && !known.has(name));
    return later === undefined ? undefined : `.${later[0]}`;
  };
};

/** What one of them knows. The place is that of the last one. */
export const oneOf =
  (...all: readonly Known[]): Known =>
  (value) => {
    let place: string | undefined = '';
    for (const known of all) {
      place = known(value);
      if (place === undefined) return undefined;
    }
    return place;
  };

const reason: Reason = 'written-by-newer-release';

/**
 * Returns the value. Throws a Refusal that is answered with 503 if a part of it is not known: another process of the
 * newer release can answer. `what` is for the log alone.
 */
export const assertKnown = <T>(known: Known, value: T, what: string): T => {
  const place = known(value);
  if (place === undefined) return value;
  throw new Refusal(
    'UPSTREAM_UNAVAILABLE',
    'A newer release of Guestlist stored what this request needs, with a part that this process does not know. Try again, and end the processes of the older release.',
    { reason, cause: new DependencyUnavailable(reason, `${what} has ${place}, which this release does not know`) },
  );
};
