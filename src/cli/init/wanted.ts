/** What the operator deselects of the tables and charts that `init` would make. */
import type { FirstDashboard } from '../../model/dashboard/first/first-dashboard.js';
import { qualifiedName, sameTable, type TableRef } from '../../model/datamart/datamart.js';
import type { Draft } from '../../model/datamart/model-draft.js';
import type { SourceTable } from '../../model/datamart/source-schema.js';
import { WrongCall } from '../kit/exit.js';
import { type Asking, answerTo, type Flags } from './questions.js';

/** Returns the items that are wanted. Without a terminal: all. */
const askWanted = async (asking: Asking, message: string, names: readonly string[]): Promise<readonly string[]> => {
  if (asking === null || names.length === 0) return names;
  const options = names.map((value) => ({ value, label: value }));
  return answerTo(
    asking,
    asking.multiselect({ message, options, initialValues: [...names], required: false, maxItems: 12 }),
  );
};

type Drafting = {
  readonly tables: readonly SourceTable[];
  readonly draftFor: (tables: readonly SourceTable[]) => Draft;
};

/** Leaves out of the draft what the operator does not want, and says which other tables have no tenant without it. */
export const askTables = async (asking: Asking, { tables, draftFor }: Drafting): Promise<Draft> => {
  const whole = draftFor(tables);
  const names = whole.datamart.tables.filter((table) => !isTenants(whole, table)).map(qualifiedName);
  const wanted = await askWanted(asking, 'These tables will be in the model. Deselect what you do not want.', names);
  if (wanted.length === names.length) return whole;
  // A table that several ways led to a tenant may have one way only now. It was not shown, so it stays out.
  const draft = draftFor(tables.filter((table) => isTenants(whole, table) || wanted.includes(qualifiedName(table))));
  const kept = draft.datamart.tables.map(qualifiedName);
  const lost = wanted.filter((name) => !kept.includes(name));
  if (lost.length > 0) console.log(`Left out too, since no table says whose their rows are: ${lost.join(', ')}\n`);
  return draft;
};

const isTenants = ({ datamart: { tenancy } }: Draft, table: TableRef): boolean =>
  tenancy?.tenancyLevel === 'TABLE' && sameTable(table, tenancy);

/** Leaves out the charts that nobody wants. Throws WrongCall for a name that no chart has, and if none is left. */
export const askCharts = async (
  asking: Asking,
  { without = [] }: Flags,
  { metrics, filters }: FirstDashboard,
): Promise<FirstDashboard> => {
  const names = metrics.map(({ name }) => name);
  const unknown = without.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new WrongCall(`--without "${unknown}": there is no such chart. The charts are: ${names.join('; ')}`);
  }
  const left = names.filter((name) => !without.includes(name));
  const wanted = await askWanted(asking, 'These charts will be made. Deselect what you do not want.', left);
  const kept = metrics.filter(({ name }) => wanted.includes(name));
  if (kept.length === 0) throw new WrongCall('no chart is left: a dashboard needs at least one');
  return { metrics: kept, filters };
};
