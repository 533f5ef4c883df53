/** What `init` needs to know: from flags, from questions at a terminal, or as the schema proposes. */
import { qualifiedName } from '../../model/datamart/datamart.js';
import type { LeftOut } from '../../model/datamart/model-draft.js';
import {
  clientColumnNames,
  countLeadingTo,
  type ProposedTenantTable,
  type SourceProposals,
} from '../../model/datamart/source-proposals.js';
import type { SourceTable } from '../../model/datamart/source-schema.js';
import { urlExamples } from '../../model/datamart/source-url.js';
import { WrongCall } from '../kit/exit.js';

export type Flags = {
  readonly database?: string;
  readonly tenantTable?: string;
  readonly clientColumn?: string;
  readonly shared?: readonly string[];
  /** `table=relationship`. */
  readonly tenancyPath?: readonly string[];
  /** `table` or `table=column,column`. */
  readonly through?: readonly string[];
  readonly baseFilter?: readonly string[];
  readonly withoutBaseFilter?: readonly string[];
  readonly withoutAmounts?: readonly string[];
  readonly withoutTable?: readonly string[];
  readonly without?: readonly string[];
  readonly origin?: string;
};

/** The end of the questions by Ctrl-C. Nothing was written by then. */
class Cancelled extends Error {
  override readonly name = 'Cancelled';
}

type Clack = typeof import('@clack/prompts');

/** The questions at a terminal. Null: nobody is there, and the flags and proposals decide. */
export type Asking = Clack | null;

/** Only a terminal is asked. The library is loaded only then. */
export const askingOf = async (yes: true | undefined): Promise<Asking> =>
  yes || !process.stdin.isTTY || !process.stdout.isTTY ? null : import('@clack/prompts');

/** The answer to a question. Throws Cancelled after Ctrl-C. */
export const answerTo = async <Value>(clack: Clack, asked: Promise<Value>): Promise<Exclude<Value, symbol>> => {
  const value = await asked;
  if (clack.isCancel(value)) throw new Cancelled('stopped; nothing was written');
  return value as Exclude<Value, symbol>;
};

/** The URL of a server with the password that is asked for, masked. Other URLs, and paths, stay as they are. */
const withPassword = async (asking: Clack, text: string): Promise<string> => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.username === '' || url.password !== '') return text;
  const message = `Password of ${decodeURIComponent(url.username)} (empty if there is none)`;
  url.password = encodeURIComponent((await answerTo(asking, asking.password({ message }))) ?? '');
  return url.href;
};

export const askDatabase = async (asking: Asking, { database }: Flags): Promise<string> => {
  if (database !== undefined) return database;
  if (asking === null)
    throw new WrongCall(`give the URL of your database: --database ${urlExamples}; or set GUESTLIST_INIT_DATABASE`);
  const message = `Where is your database? Leave the password out: it is asked next (${urlExamples.replace(':password', '')})`;
  const validate = (value: string | undefined) => ((value ?? '').trim() === '' ? 'the URL is needed' : undefined);
  const placeholder = 'postgres://user@localhost:5432/shop';
  return withPassword(asking, await answerTo(asking, asking.text({ message, placeholder, validate })));
};

export type TenantChoice = { readonly table: SourceTable; readonly keyColumn: string };

export const findTable = (tables: readonly SourceTable[], name: string): SourceTable => {
  const found = tables.filter((table) => table.tableName === name || qualifiedName(table) === name);
  const [only, other] = found;
  if (only === undefined) {
    throw new WrongCall(`there is no table "${name}"; the database has ${tables.map(qualifiedName).join(', ')}`);
  }
  if (other !== undefined)
    throw new WrongCall(`several tables are named "${name}": ${found.map(qualifiedName).join(', ')}`);
  return only;
};

const keyOf = (
  table: SourceTable,
  proposed: readonly ProposedTenantTable[],
  clientColumn: string | undefined,
): string => {
  const known = proposed.find((one) => qualifiedName(one) === qualifiedName(table))?.keyColumn;
  const single = table.primaryKey.length === 1 ? table.primaryKey[0] : undefined;
  const named = table.columns.find(({ columnName }) => columnName === clientColumn || columnName === 'id')?.columnName;
  const key = known ?? single ?? named;
  if (key === undefined)
    throw new WrongCall(`table ${qualifiedName(table)} has no key of one column that could identify a tenant`);
  return key;
};

const hintOf = (count: number): string => `${count} other ${count === 1 ? 'table leads' : 'tables lead'} to it`;

type Option = { readonly value: string; readonly label: string; readonly hint?: string };

/** First the tables that are named like tenants, then those that most other tables lead to. */
const tenantOptions = (
  tables: readonly SourceTable[],
  { tenantTables, relationships }: SourceProposals,
): readonly Option[] => {
  const optionOf = (name: string, count: number): Option => ({
    value: name,
    label: name,
    ...(count === 0 ? {} : { hint: hintOf(count) }),
  });
  const proposed = tenantTables.map((one) => optionOf(qualifiedName(one), one.tablesReached));
  const others = tables
    .filter((table) => !proposed.some(({ value }) => value === qualifiedName(table)))
    .map((table) => ({ name: qualifiedName(table), count: countLeadingTo(table, tables, relationships) }))
    .toSorted((a, b) => b.count - a.count)
    .map(({ name, count }) => optionOf(name, count));
  return [...proposed, ...others];
};

export const askTenantTable = async (
  asking: Asking,
  flags: Flags,
  tables: readonly SourceTable[],
  proposals: SourceProposals,
): Promise<TenantChoice> => {
  const { tenantTables } = proposals;
  const choose = (table: SourceTable): TenantChoice => ({
    table,
    keyColumn: keyOf(table, tenantTables, flags.clientColumn),
  });
  if (flags.tenantTable !== undefined) return choose(findTable(tables, flags.tenantTable));
  if (asking === null) {
    const [best] = tenantTables;
    if (best === undefined) {
      const [likely] = tenantOptions(tables, proposals).filter(({ hint }) => hint !== undefined);
      const by = likely === undefined ? '' : ` (by its keys perhaps ${likely.label}: ${likely.hint})`;
      throw new WrongCall(`no table is named like your customers: name it by --tenant-table${by}`);
    }
    return choose(findTable(tables, qualifiedName(best)));
  }
  const message = 'Which table lists your customers (the tenants)?';
  const options = [...tenantOptions(tables, proposals)];
  const name = await answerTo(asking, asking.select({ message, options, maxItems: 12 }));
  return choose(findTable(tables, String(name)));
};

const foreignKeysOnly = '';

/** The name of the client column; undefined: the foreign keys to the table of tenants decide. */
export const askClientColumn = async (
  asking: Asking,
  flags: Flags,
  tables: readonly SourceTable[],
  choice: TenantChoice,
  proposals: SourceProposals,
): Promise<string | undefined> => {
  const named = flags.clientColumn;
  if (named !== undefined) {
    if (tables.some(({ columns }) => columns.some(({ columnName }) => columnName === named))) return named;
    throw new WrongCall(`no table has a column "${named}"`);
  }
  const names = clientColumnNames(choice.table, proposals);
  if (asking === null || names.length === 0) return names[0]?.[0];
  const message = `Which column of the other tables holds the ${choice.table.tableName}' ${choice.keyColumn}?`;
  const options = [
    ...names.map(([value, count]) => ({
      value,
      label: value,
      hint: `in ${count} ${count === 1 ? 'table' : 'tables'}`,
    })),
    { value: foreignKeysOnly, label: 'none: their foreign keys say it' },
  ];
  const chosen = await answerTo(asking, asking.select({ message, options }));
  return chosen === foreignKeysOnly ? undefined : String(chosen);
};

/** The tables without those that nobody wants. Only flags say so before the report; the terminal is asked after it. */
export const withoutTables = (
  tables: readonly SourceTable[],
  names: readonly string[] = [],
): readonly SourceTable[] => {
  const dropped = names.map((name) => findTable(tables, name));
  return tables.filter((table) => !dropped.includes(table));
};

/** Names of the tables that all tenants may read. Nothing is shared unless somebody says so. */
export const askShared = async (
  asking: Asking,
  { shared }: Flags,
  tables: readonly SourceTable[],
  leftOut: readonly LeftOut[],
): Promise<readonly string[]> => {
  if (shared !== undefined) return shared.map((name) => qualifiedName(findTable(tables, name)));
  const offered = leftOut.filter(({ mayHaveTenants }) => !mayHaveTenants);
  if (asking === null || offered.length === 0) return [];
  const message =
    'These tables belong to no tenant. Which of them may ALL tenants read, every row? (space selects; none is safe)';
  const sorted = offered.toSorted((a, b) => Number(b.isLookup) - Number(a.isLookup));
  const options = sorted.map(({ table, isLookup }) => ({
    value: qualifiedName(table),
    label: qualifiedName(table),
    ...(isLookup ? { hint: 'your tenants’ rows refer to it' } : {}),
  }));
  return answerTo(asking, asking.multiselect({ message, options, required: false, maxItems: 12 }));
};

const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text;

export const askOrigin = async (asking: Asking, { origin }: Flags, usual: string): Promise<string> => {
  const fault = 'an origin is scheme, host and port alone, such as https://app.example.com';
  if (origin !== undefined) {
    if (!isOrigin(origin)) throw new WrongCall(`--origin ${origin}: ${fault}`);
    return origin;
  }
  if (asking === null) return usual;
  const message = 'At which origin do your pages run?';
  const validate = (value: string | undefined) => (isOrigin((value ?? '') || usual) ? undefined : fault);
  return answerTo(asking, asking.text({ message, defaultValue: usual, placeholder: usual, validate }));
};
