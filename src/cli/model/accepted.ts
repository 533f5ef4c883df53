/** Which changes a call of `model sync` accepts: by its options, or by answers at a terminal. */
import { nameOfChange } from '../../model/datamart/source-changes.js';
import { type Asking, answerTo } from '../init/questions.js';
import { WrongCall } from '../kit/exit.js';
import { breakLine } from './report.js';
import type { Break, Change, Offer } from './target.js';

export type Flags = {
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
  readonly rename?: readonly string[] | undefined;
  readonly leaveOut?: readonly string[] | undefined;
  readonly types?: true | undefined;
  readonly yes?: true | undefined;
};

/** Whether the call says what it accepts. */
export const isDecided = ({ add, remove, rename, leaveOut, types, yes }: Flags): boolean =>
  [add, remove, rename, leaveOut, types, yes].some((flag) => flag !== undefined);

/** `schema.table.column`, or without the schema. */
const isNamed = (change: Change, name: string): boolean => {
  const full = nameOfChange(change);
  return name === full || name === full.slice(change.table.schemaName.length + 1);
};

const sameAs =
  (change: Change) =>
  (other: Change): boolean =>
    nameOfChange(other) === nameOfChange(change);

const find = (changes: readonly Change[], name: string, option: string): Change => {
  const meant = changes.filter((change) => isNamed(change, name));
  const [only, second] = meant;
  if (only !== undefined && second === undefined) return only;
  if (second !== undefined)
    throw new WrongCall(`${option} ${name}: several are meant: ${meant.map(nameOfChange).join(', ')}`);
  const names = changes.map(nameOfChange);
  throw new WrongCall(
    `${option} ${name}: no such change; ${names.length === 0 ? 'there is none' : `there are ${names.join(', ')}`}`,
  );
};

/** The table or column of which a likely rename says that it is the new name. */
const newOf = (change: Change): Change => {
  const { table, columnName, before } = change;
  const newName = change.newName ?? '';
  const isTable = columnName === null;
  return {
    ...{ kind: 'new', newName: null, before: null, after: isTable ? null : before },
    table: isTable ? { ...table, tableName: newName } : table,
    columnName: isTable ? null : newName,
  };
};

const renameOf = (text: string, removable: readonly Change[], addable: readonly Change[]): Change => {
  const [old = '', now = '', ...rest] = text.split('=');
  if (old === '' || now === '' || rest.length > 0) throw new WrongCall(`--rename ${text}: give OLD=NEW`);
  const gone = find(removable, old, '--rename');
  const found = addable.filter(({ table, columnName }) => {
    const ofTable = gone.columnName === null;
    if (ofTable !== (columnName === null)) return false;
    return ofTable ? table.schemaName === gone.table.schemaName : nameOfTable(table) === nameOfTable(gone.table);
  });
  const isMeant = (change: Change): boolean =>
    isNamed(change, now) || (change.columnName ?? change.table.tableName) === now;
  const to = found.find(isMeant);
  if (to === undefined)
    throw new WrongCall(
      `--rename ${text}: nothing new there is called ${now}; there are ${found.map(nameOfChange).join(', ') || 'none'}`,
    );
  return { ...gone, kind: 'renamed', newName: to.columnName ?? to.table.tableName };
};

const nameOfTable = ({ schemaName, tableName }: Change['table']): string => `${schemaName}.${tableName}`;

/** The changes that the options accept. Throws WrongCall for a name that is no change. */
export const acceptedBy = (
  offers: readonly Offer[],
  { add, remove, rename, leaveOut, yes }: Flags,
): readonly Change[] => {
  const changes = offers.map(({ change }) => change);
  const renames = changes.filter(({ kind }) => kind === 'renamed');
  const fresh = changes.filter(({ kind }) => kind === 'new');
  const removable = changes
    .filter(({ kind }) => kind === 'gone' || kind === 'renamed')
    .map((change): Change => ({ ...change, kind: 'gone', newName: null }));
  const addable = [...fresh, ...renames.map(newOf)];
  const renamed = (rename ?? []).map((text) => renameOf(text, removable, addable));
  const targets = renamed.map(newOf);
  const safe = offers.filter(({ change: { kind }, caution }) => kind === 'new' && caution === null);
  const ofColumns = fresh.filter(({ columnName }) => columnName !== null);
  const left = (leaveOut ?? []).map((name) => find(ofColumns, name, '--leave-out'));
  const added = [
    ...(add ?? []).map((name) => find(addable, name, '--add')),
    ...(yes ? safe.map(({ change }) => change) : []),
  ].filter((change, at, all) => all.findIndex(sameAs(change)) === at && ![...targets, ...left].some(sameAs(change)));
  const leftOut = left.map((change): Change => ({ ...change, kind: 'leftOut' }));
  return [...renamed, ...added, ...leftOut, ...(remove ?? []).map((name) => find(removable, name, '--remove'))];
};

/** Tables and columns that the database no longer has, and about which nothing is decided: a save would be refused. */
export const undecided = (offers: readonly Offer[], accepted: readonly Change[]): readonly Change[] =>
  offers
    .map(({ change }) => change)
    .filter(({ kind }) => kind === 'gone' || kind === 'renamed')
    .filter((change) => !accepted.some((one) => one.kind !== 'new' && one.kind !== 'leftOut' && sameAs(change)(one)));

type Clack = NonNullable<Asking>;

const askAdditions = async (clack: Clack, offers: readonly Offer[]): Promise<readonly Change[]> => {
  const fresh = offers.filter(({ change }) => change.kind === 'new');
  if (fresh.length === 0) return [];
  const options = fresh.map(({ change, caution }) => ({
    value: nameOfChange(change),
    label: nameOfChange(change),
    ...(caution === null ? {} : { hint: caution }),
  }));
  const initialValues = fresh.filter(({ caution }) => caution === null).map(({ change }) => nameOfChange(change));
  const message =
    'Which of these does the datamart get? Guests may then read them. Other columns are left out, and not asked for again. (space selects)';
  const chosen = await answerTo(
    clack,
    clack.multiselect({ message, options, initialValues, required: false, maxItems: 12 }),
  );
  return fresh.flatMap(({ change }): readonly Change[] => {
    if (chosen.includes(nameOfChange(change))) return [change];
    return change.columnName === null ? [] : [{ ...change, kind: 'leftOut' }];
  });
};

const askGone = async (clack: Clack, { change, breaks }: Offer): Promise<readonly Change[]> => {
  const name = nameOfChange(change);
  const removal: Change = { ...change, kind: 'gone', newName: null };
  const options = [
    ...(change.newName === null ? [] : [{ value: 'rename', label: `it is called ${change.newName} now` }]),
    { value: 'remove', label: 'remove it from the datamart', ...hint(breaks) },
    ...(change.newName === null ? [] : [{ value: 'both', label: `remove it, and add ${change.newName}` }]),
    { value: 'keep', label: 'leave it, and save nothing' },
  ];
  const chosen = await answerTo(clack, clack.select({ message: `The database has no ${name} any more.`, options }));
  if (chosen === 'rename') return [change];
  if (chosen === 'both') return [removal, newOf(change)];
  return chosen === 'remove' ? [removal] : [];
};

const hint = (breaks: readonly Break[]): { readonly hint?: string } =>
  breaks.length === 0 ? {} : { hint: `breaks ${breaks.map(({ name }) => name).join(', ')}` };

/** Asks about each change. */
export const askChanges = async (clack: Clack, offers: readonly Offer[]): Promise<readonly Change[]> => {
  const added = await askAdditions(clack, offers);
  const others: Change[] = [];
  for (const offer of offers) {
    if (offer.change.kind === 'gone' || offer.change.kind === 'renamed') others.push(...(await askGone(clack, offer)));
  }
  return [...others, ...added];
};

/** Whether the person saves although this breaks. */
export const askBreaks = async (clack: Clack, breaks: readonly Break[]): Promise<boolean> => {
  if (breaks.length === 0) return true;
  const message = `${breaks.map(breakLine).join('\n')}\nSave it?`;
  return answerTo(clack, clack.confirm({ message, initialValue: false }));
};
