/** One data set: in a database that all tenants share, and each tenant's rows in a database of its own. */

import type { Datamart } from '../../src/model/datamart/datamart.js';
import type { Scalar } from '../../src/model/filter/filter.js';
import type { Engine, MetricAnswer } from '../../src/model/query/engine.js';
import { createBuilder, type Kind } from '../engine/test-databases.js';
import { at, createLoggedEngine, type Place, question } from '../engine/world.js';
import {
  createDataset,
  type Dataset,
  shardOf,
  type TableName,
  type Tenant,
  tablesOf,
  tenants,
  withMoreStrangers,
} from './dataset.js';
import type { Source } from './evaluator-joins.js';
import type { Posed } from './question.js';
import { theDay } from './values.js';

export type Answer = MetricAnswer | readonly Scalar[];

export type Stage = {
  readonly kind: Kind;
  readonly dataset: Dataset;
  readonly engine: Engine;
  readonly places: { readonly shared: Place; readonly grown: Place; readonly shardOf: (tenant: Tenant) => Place };
  /** Replaces the rows of a database without tenancy by these. The rows of the previous call are removed. */
  readonly refill: (left: Dataset) => Promise<Place>;
  readonly remove: () => Promise<void>;
};

export const createStage = async (kind: Kind, seed: number, dataset = createDataset(seed)): Promise<Stage> => {
  // The columns treat `acme` and `ACME` as equal, on PostgreSQL by this collation and on MariaDB by default.
  const builder = await createBuilder(kind, { POSTGRES: { VARCHAR: 'VARCHAR COLLATE public.loose' } });
  const build = (name: string, of: Dataset): Promise<Place> => builder.build(name, tablesOf(of));
  const [shared, grown, ...shards] = await Promise.all([
    build('shared', dataset),
    build('grown', withMoreStrangers(dataset, seed + 1)),
    ...tenants.map((tenant, index) => build(`shard${index}`, shardOf(dataset, tenant))),
  ]);
  if (shared === undefined || grown === undefined) throw new Error('no databases');
  const { engine } = createLoggedEngine();
  let filled: Place | undefined;
  let fills = 0;
  return {
    kind,
    dataset,
    engine,
    places: {
      shared,
      grown,
      shardOf: (tenant) => {
        const shard = shards[tenants.indexOf(tenant)];
        if (shard === undefined) throw new Error(`no shard of ${tenant}`);
        return shard;
      },
    },
    refill: async (left) => {
      fills += 1;
      const name = `left${fills}`;
      filled = filled === undefined ? await build(name, left) : await builder.refill(name, filled, tablesOf(left));
      return filled;
    },
    remove: async () => {
      await engine.close();
      await builder.remove();
    },
  };
};

/** Returns the tenant's rows in memory. */
export const sourceOf = (dataset: Dataset, mart: Datamart, timezone: string | null): Source => ({
  mart,
  rowsOf: ({ tableName }) => dataset.get(tableName as TableName) ?? [],
  timezone,
});

export type Asking = Pick<Posed, 'asked' | 'option' | 'search'> & {
  readonly ask: 'answer' | 'underlying' | 'options';
  readonly timezone: string | null;
};

export const askEngine = (
  { engine }: Stage,
  place: Place,
  mart: Datamart,
  clientId: string,
  { ask, asked, option, search, timezone }: Asking,
): Promise<Answer> => {
  const { definition, conditions, isWorksheet, sort, limit, offset } = asked;
  const posed = question(place, mart, clientId, definition, {
    conditions,
    joinModel: isWorksheet ? 'single' : 'multi',
    timezone,
    today: theDay,
    sort: ask === 'underlying' ? null : sort,
    limit,
    offset,
  });
  if (ask === 'answer') return engine.query(posed);
  return ask === 'underlying'
    ? engine.underlying(posed)
    : engine.options({ ...posed, column: at(place, option), search });
};
