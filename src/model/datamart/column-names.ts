/** What the names of tables and columns suggest. Suggestions are shown to an operator, who decides; no query relies on them. */

/** Returns the words of a name in lower case: `CustomerID` and `customer_id` are both `customer`, `id`. */
export const wordsOf = (name: string): readonly string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

/** Words of a name as a label: `ship_country` is `Ship country`, and `is_billable` is `Billable`. A name without words stays as it is. */
export const labelOf = (name: string): string => {
  const words = wordsOf(name)
    .join(' ')
    .replace(/^is (?=.)/, '');
  return words === '' ? name : `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
};

/** Returns the singular of an English plural; other words are returned unchanged. */
const singularOf = (word: string): string => {
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(ch|sh|x|ss|us)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') && !/(ss|us|is)$/.test(word) ? word.slice(0, -1) : word;
};

/** Returns the name in words, its last word in the singular: `order_details` is `order detail`. */
export const singularName = (name: string): string => {
  const words = wordsOf(name);
  return [...words.slice(0, -1), singularOf(words.at(-1) ?? '')].join(' ');
};

const identifying: ReadonlySet<string> = new Set([
  'id',
  'uuid',
  'guid',
  'key',
  'code',
  'slug',
  'no',
  'number',
  'pk',
  'fk',
]);

/** Whether a name with these words ends like an identifier, such as `customer_id` and `id`. */
export const isIdentifying = (words: readonly string[]): boolean => identifying.has(words.at(-1) ?? '');

/** Returns what a column identifies: `customer` for `customer_id`. Null if the name does not end like an identifier. */
export const identifiedBy = (columnName: string): string | null => {
  const words = wordsOf(columnName);
  return words.length > 1 && isIdentifying(words) ? words.slice(0, -1).join(' ') : null;
};

/** Words for a customer of a SaaS product, the most likely first. */
const tenantWords: readonly string[] = [
  'tenant',
  'organization',
  'organisation',
  'org',
  'company',
  'account',
  'workspace',
  'client',
  'customer',
  'merchant',
  'shop',
  'store',
  'team',
  'site',
  'partner',
  'agency',
  'clinic',
  'school',
  'restaurant',
  'hotel',
];

/** Returns the position of the word in `tenantWords`, 0 for the most likely; null if it is not in the list. */
export const tenantRank = (word: string): number | null => {
  const at = tenantWords.indexOf(word);
  return at === -1 ? null : at;
};

/**
 * Returns the word for a tenant in a column's name: `customer` for `customer_id` and `billing_customer_id`, `company`
 * for `company`. Null if there is none.
 */
export const tenantWordOf = (columnName: string): string | null => {
  const word = wordsOf(identifiedBy(columnName) ?? columnName).at(-1) ?? '';
  return tenantRank(word) === null ? null : word;
};

const persons: ReadonlySet<string> = new Set([
  ...['user', 'person', 'people', 'member', 'employee', 'contact', 'profile', 'identity', 'login', 'staff'],
]);

/** Whether a table of this name may hold people. */
export const isPerson = (tableName: string): boolean => persons.has(singularName(tableName).split(' ').at(-1) ?? '');

const memberships: ReadonlySet<string> = new Set(['member', 'membership', 'seat', 'collaborator', 'enrollment']);

/** Whether a table of this name may say who belongs to what: `memberships`, `team_members`, `organization_users`. */
export const isMembership = (tableName: string): boolean => {
  const words = singularName(tableName).split(' ');
  const last = words.at(-1) ?? '';
  return memberships.has(last) || (words.length > 1 && (persons.has(last) || tenantRank(last) !== null));
};

const contacts: ReadonlySet<string> = new Set([
  ...['email', 'mail', 'phone', 'mobile', 'address', 'street', 'birthday', 'birth', 'username'],
]);
const otherPersonal: ReadonlySet<string> = new Set([
  ...['fax', 'birthdate', 'login', 'avatar', 'picture', 'photo', 'gender', 'name', 'surname'],
]);

/** Whether a column of this name says that its table is about people: `email`, `home_phone`. */
export const isContact = (columnName: string): boolean => wordsOf(columnName).some((word) => contacts.has(word));

/** Whether a column of this name tells of a person beyond the name that is shown: to be asked before it is readable. */
export const isPersonal = (columnName: string): boolean =>
  isContact(columnName) || wordsOf(columnName).some((word) => otherPersonal.has(word));

const kindsOfPeople: ReadonlySet<string> = new Set(['department', 'division', 'team', 'role']);

/** Whether a column of this name divides people into kinds, and tells little of one person: `department`. */
export const dividesPeople = (columnName: string): boolean => kindsOfPeople.has(wordsOf(columnName).at(-1) ?? '');

const removals: ReadonlySet<string> = new Set(['deleted', 'archived', 'removed', 'discarded']);
const tests: ReadonlySet<string> = new Set(['test', 'testing', 'sandbox']);

/** Whether a column of this name may hold when a row was deleted: `deleted_at`, `archived_on`. */
export const isTimeOfRemoval = (columnName: string): boolean => {
  const words = wordsOf(columnName);
  const [first = '', second = ''] = words;
  return (
    removals.has(first) && (words.length === 1 || (words.length === 2 && ['at', 'on', 'date', 'time'].includes(second)))
  );
};

const marks = (columnName: string, what: ReadonlySet<string>): boolean => {
  const words = wordsOf(columnName);
  const [mark = '', ...others] = words[0] === 'is' ? words.slice(1) : words;
  return others.length === 0 && what.has(mark);
};

/** Whether a column of this name may mark rows that are deleted: `is_deleted`. */
export const isMarkOfRemoval = (columnName: string): boolean => marks(columnName, removals);

/** Whether a column of this name may mark rows that are only a test: `test`. */
export const isMarkOfTest = (columnName: string): boolean => marks(columnName, tests);

/** How names say that whole numbers are the smallest unit of a currency. */
const minorUnits: readonly (readonly string[])[] = [['cents'], ['pence'], ['minor', 'units'], ['minor']];

/**
 * What an amount of this name is called in whole units, and the unit that its name ends with: `total` and `cents` for
 * `totalCents`. The unit is null if the name has none.
 */
export const amountName = (columnName: string): { readonly name: string; readonly unit: string | null } => {
  const words = wordsOf(columnName);
  const found = minorUnits.find((unit) => unit.every((word, at) => words.at(at - unit.length) === word));
  if (found === undefined) return { name: words.join(' '), unit: null };
  const rest = words.slice(0, -found.length);
  const name = (rest.at(-1) === 'in' ? rest.slice(0, -1) : rest).join(' ');
  // A column called `minor` alone tells a version.
  if (name === '' && found[0] === 'minor') return { name: words.join(' '), unit: null };
  return { name: name === '' ? 'amount' : name, unit: found[0] === 'minor' ? 'minor units' : found.join(' ') };
};

const summed: ReadonlySet<string> = new Set(
  'amount total subtotal revenue cents pence sum quantity qty units count freight cost costs sales sold value fee fees tax paid hours minutes seconds duration size bytes points shipping refund profit income spend'.split(
    ' ',
  ),
);
/** Words of prices, rates and measurements. `unit` and `per` say what one thing costs. */
const averaged: ReadonlySet<string> = new Set(
  'price unit per rate discount score rating stars percent percentage pct ratio age avg average mean median temperature humidity pressure weight bmi pulse level speed delay margin height width length depth distance salary'.split(
    ' ',
  ),
);
const hasAny = (words: readonly string[], set: ReadonlySet<string>): boolean => words.some((word) => set.has(word));

/** Whether numbers of this name add up to something: amounts, counts and durations. */
export const addsUp = (columnName: string): boolean => {
  const words = wordsOf(columnName);
  return hasAny(words, summed) && (!hasAny(words, averaged) || words.includes('total'));
};

/** Whether a mean of numbers of this name makes sense, and a sum does not: prices, rates and measurements. */
export const isMeasurement = (columnName: string): boolean =>
  hasAny(wordsOf(columnName), averaged) && !addsUp(columnName);
