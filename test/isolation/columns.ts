/**
 * The right to the column: the answer under a token that masks and hides columns equals the answer of a database whose
 * columns hold the masked values. What the policy and the model enforce reads the stored values, which that database has
 * under other names.
 */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { EngineOptions } from '../../src/engine/engine.js';
import { createMaskKeys } from '../../src/engine/scope/mask-keys.js';
import { type ColumnRules, withColumnRules } from '../../src/model/datamart/column-rules.js';
import type { ColumnRef, Datamart, DatamartTable } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import type { Engine } from '../../src/model/query/engine.js';
import { createBuilder, type Kind, type TableData, type Value } from '../engine/test-databases.js';
import { at, createLoggedEngine, datamart, type Place, question, scopeOf, table } from '../engine/world.js';
import { type ACase, type ATest, aCase } from './cases.js';
import {
  clientColumns,
  columns,
  createDataset,
  type Dataset,
  numberOf,
  type Tenant,
  tableNames,
  tablesOf,
  tenants,
} from './dataset.js';
import { outcomeOf } from './judge.js';
import { assertSame, isList } from './oracle.js';
import { conditionOf, nearTables, pose } from './question.js';
import type { Answer } from './stage.js';
import { type AStatement, definitionOf, sqlCondition, martOf as sqlMartOf } from './statements.js';
import { theDay } from './values.js';

const secret = Buffer.alloc(32, 7);

/** What becomes of a column in a batch. */
type Fate = 'hash' | 'last4' | 'first' | 'year' | 'null' | `bucket(${number})` | 'hidden';

const texts: readonly Fate[] = ['hash', 'last4', 'first', 'null', 'hidden'];
const dates: readonly Fate[] = ['year', 'null', 'hidden'];
const numbers: readonly Fate[] = ['bucket(5)', 'bucket(1000)', 'bucket(1)', 'null', 'hidden'];

const fatesOf: Readonly<Record<string, readonly Fate[]>> = {
  VARCHAR: texts,
  DATE: dates,
  TIMESTAMP: dates,
  'TIMESTAMP WITH TIME ZONE': dates,
  BOOLEAN: ['null', 'hidden'],
};

const allColumns: readonly (readonly [name: string, type: string])[] = tableNames.flatMap((name) =>
  Object.entries(name === 'clients' ? clientColumns : columns).map(
    ([column, type]) => [`${name}.${column.replace('@', '')}`, type] as const,
  ),
);

export type Fates = Readonly<Record<string, Fate>>;

/** Many masked columns and few hidden ones: a question that names a hidden one is refused. */
export const aFates: fc.Arbitrary<Fates> = fc
  .array(fc.tuple(fc.constantFrom(...allColumns), fc.nat(1000), fc.nat(5)), { minLength: 10, maxLength: 45 })
  .map((chosen) =>
    Object.fromEntries(
      chosen.map(([[name, type], choice, kept]) => {
        const fates = fatesOf[type] ?? numbers;
        const fate = fates[choice % fates.length] ?? 'hidden';
        // Hidden columns are fewer than masked ones.
        return [name, fate === 'hidden' && kept > 0 ? (fates[0] ?? fate) : fate];
      }),
    ),
  );

const rulesOf = (fates: Fates): ColumnRules => ({
  hideColumns: Object.entries(fates).flatMap(([name, fate]) => (fate === 'hidden' ? [`main.${name}`] : [])),
  maskColumns: Object.fromEntries(
    Object.entries(fates).flatMap(([name, fate]) => (fate === 'hidden' ? [] : [[`main.${name}`, fate]])),
  ),
});

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

const part = (text: string, count: number, isEnd: boolean): string => {
  const points = [...text];
  if (points.length <= count) return '';
  return (isEnd ? points.slice(-count) : points.slice(0, count)).join('');
};

const floor = (value: bigint, width: bigint): bigint => value - (((value % width) + width) % width);

const bucketed = (value: Value, width: number, type: string): Value => {
  if (type === 'DOUBLE') return Math.floor(Number(value) / width) * width;
  if (!type.startsWith('DECIMAL')) return String(floor(BigInt(String(value)), BigInt(width)));
  const cents = BigInt(Math.round(Number(value) * 100));
  return `${floor(cents, BigInt(width) * 100n) / 100n}.00`;
};

/** The mask by other means than the database's. */
const masked = (value: Value, fate: Fate, type: string, key: string): Value => {
  if (value === null || fate === 'null') return null;
  const text = String(value);
  if (fate === 'hash') return sha256(key + sha256(key + text)).slice(0, 32);
  if (fate === 'last4') return part(text, 4, true);
  if (fate === 'first') return part(text, 1, false);
  if (fate === 'year') return `${text.slice(0, 4)}-01-01`;
  return bucketed(value, Number(/\d+/.exec(fate)?.[0]), type);
};

const maskedType = (fate: Fate, type: string): string => {
  if (fate === 'hash' || fate === 'last4' || fate === 'first') return 'PLAIN';
  if (fate === 'year') return 'DATE';
  return fate !== 'null' && type.startsWith('DECIMAL') ? 'DECIMAL(38,2)' : type;
};

const raw = (column: string): string => `raw_${column}`;

/** The tables with masked values, and the stored values of those columns beside them. */
const maskedTables = (dataset: Dataset, fates: Fates, key: string): readonly TableData[] =>
  tablesOf(dataset).map(({ name, columns: types, rows }) => {
    const named = Object.entries(types);
    const ruled = named.flatMap(([column, type], index) => {
      const fate = fates[`${name}.${column}`];
      return fate === undefined ? [] : [{ column, type, index, fate }];
    });
    const shown = ruled.filter(({ fate }) => fate !== 'hidden');
    const fateAt = (index: number) => ruled.find((one) => one.index === index);
    const kept = named.map((_, index) => index).filter((index) => fateAt(index)?.fate !== 'hidden');
    return {
      name,
      columns: Object.fromEntries([
        ...kept.map((index) => {
          const [column = '', type = ''] = named[index] ?? [];
          const one = shown.find((other) => other.index === index);
          return [column, one === undefined ? type : maskedType(one.fate, type)];
        }),
        ...ruled.map(({ column, type }) => [raw(column), type]),
      ]),
      rows: rows.map((row) => [
        ...kept.map((index) => {
          const one = fateAt(index);
          return one === undefined ? (row[index] ?? null) : masked(row[index] ?? null, one.fate, one.type, key);
        }),
        ...ruled.map(({ index }) => row[index] ?? null),
      ]),
    };
  });

/** A column that the model or the policy reads. */
const rawRef = (fates: Fates, ref: ColumnRef): ColumnRef =>
  fates[`${ref.tableName}.${ref.columnName}`] === undefined ? ref : { ...ref, columnName: raw(ref.columnName) };

const rawMart = (mart: Datamart, fates: Fates): Datamart => {
  const nameIn = (tableName: string, columnName: string): string =>
    fates[`${tableName}.${columnName}`] === undefined ? columnName : raw(columnName);
  const { tenancy } = mart;
  const masters =
    tenancy?.tenancyLevel === 'TABLE'
      ? { ...tenancy, tablePrimaryKeyColumn: nameIn(tenancy.tableName, tenancy.tablePrimaryKeyColumn) }
      : tenancy;
  return {
    ...mart,
    id: 'masked',
    tenancy: masters,
    tables: mart.tables.map((one): DatamartTable => {
      const { tableName, clientColumn } = one;
      const own = tableName === 'clients' ? clientColumns : columns;
      const shown = Object.entries(own).flatMap(([name, type]) => {
        const fate = fates[`${tableName}.${name.replace('@', '')}`];
        if (fate === undefined) return [[name, type]];
        const stored = [raw(name), type];
        if (fate === 'hidden') return [stored];
        const kept = fate === 'year' ? name.replace('@', '') : name;
        return [[kept, maskedType(fate, type).replace('PLAIN', 'VARCHAR')], stored];
      });
      const { columns: made } = table(tableName, Object.fromEntries(shown));
      return { ...one, columns: made, clientColumn: clientColumn === null ? null : nameIn(tableName, clientColumn) };
    }),
    relationships: mart.relationships.map((one) => ({
      ...one,
      parent: rawRef(fates, one.parent),
      child: rawRef(fates, one.child),
    })),
  };
};

export type ColumnsStage = {
  readonly kind: Kind;
  readonly dataset: Dataset;
  readonly engine: Engine;
  readonly fates: Fates;
  readonly rules: ColumnRules;
  readonly asker: Pick<ACase, 'tenant' | 'isNumber'>;
  readonly places: { readonly stored: Place; readonly masked: Place };
  readonly remove: () => Promise<void>;
};

export type Asker = ColumnsStage['asker'];
export const anAsker: fc.Arbitrary<Asker> = fc.record({
  tenant: fc.constantFrom<Tenant>(...tenants),
  isNumber: fc.boolean(),
});

/** Text that is compared byte by byte, as masked text is. */
const plain = {
  DUCKDB: { PLAIN: 'VARCHAR' },
  POSTGRES: { VARCHAR: 'VARCHAR COLLATE public.loose', PLAIN: 'TEXT' },
  MYSQL: { PLAIN: 'VARCHAR(190) COLLATE utf8mb4_nopad_bin' },
  CLICKHOUSE: { PLAIN: 'String' },
};

export const createColumnsStage = async (
  kind: Kind,
  seed: number,
  fates: Fates,
  asker: Asker,
  options: Partial<EngineOptions> = {},
): Promise<ColumnsStage> => {
  const dataset = createDataset(seed, { refs: [1, 2, 3, 4] });
  const builder = await createBuilder(kind, plain);
  const clientId = asker.isNumber ? numberOf(asker.tenant) : asker.tenant;
  const tenant = scopeOf(datamart({ tables: [] }), clientId);
  const key = createMaskKeys(secret)({ dataAppId: 'app', tenant });
  const stored = await builder.build('stored', tablesOf(dataset));
  const maskedPlace = await builder.build('masked', maskedTables(dataset, fates, key));
  const { engine } = createLoggedEngine({ maskSecret: secret, ...options });
  return {
    ...{ kind, dataset, engine, fates, rules: rulesOf(fates), asker },
    places: { stored, masked: maskedPlace },
    remove: async () => {
      await engine.close();
      await builder.remove();
    },
  };
};

export type AColumnCase = { readonly asked: ACase; readonly token: readonly ATest[] };

const aTokenTest: fc.Arbitrary<ATest> = fc.record({
  table: fc.nat(5),
  column: fc.constantFrom('id', 'ref', 'code', 'label', 'amount', 'price', 'flag', 'day', 'at', 'moment', 'tenant'),
  predicate: fc.constantFrom('<>', '<=', '>=', 'noneOf', 'openRange', 'isNotNull', 'like'),
  choice: fc.nat(1000),
});

export const aColumnCase: fc.Arbitrary<AColumnCase> = fc.record({
  asked: aCase.map((drawn): ACase => (drawn.flaw === 'wild' ? { ...drawn, flaw: 'none' } : drawn)),
  token: fc.oneof(
    { weight: 2, arbitrary: fc.constant<readonly ATest[]>([]) },
    { weight: 3, arbitrary: fc.array(aTokenTest, { minLength: 1, maxLength: 2 }) },
  ),
});

export type ColumnsTally = { asked: number; answered: number; several: number; readonly refused: Map<string, number> };
export const createColumnsTally = (): ColumnsTally => ({ asked: 0, answered: 0, several: 0, refused: new Map() });

const enforced = (conditions: readonly Condition[], restriction: 'always' | 'whereRead'): readonly Condition[] =>
  conditions.map((condition) => ({ ...condition, isHidden: true, restriction, isOfToken: true }));

const rawConditions = (fates: Fates, conditions: readonly Condition[]): readonly Condition[] =>
  conditions.map(({ isOfToken: _, column, ...rest }) => ({ ...rest, column: rawRef(fates, column) }));

/** Refusals that only a token's masks cause. */
const onlyMasked: ReadonlySet<string> = new Set(['sql-condition', 'condition-on-masked', 'restriction-sql-condition']);

const judgePair = async (tally: ColumnsTally, ask: (isMasked: boolean) => Promise<Answer>): Promise<void> => {
  const [under, on] = await Promise.all([outcomeOf(() => ask(false)), outcomeOf(() => ask(true))]);
  tally.asked += 1;
  if ('refused' in under) {
    tally.refused.set(under.refused, (tally.refused.get(under.refused) ?? 0) + 1);
    if (onlyMasked.has(under.refused)) return;
  } else {
    tally.answered += 1;
    if ((isList(under.answer) ? under.answer : under.answer.rows).length > 1) tally.several += 1;
  }
  assertSame('the token shows something else than a database with the masked values', under, on);
};

/** Throws if the answers differ. */
export const judgeColumns = async (stage: ColumnsStage, of: AColumnCase, tally: ColumnsTally): Promise<void> => {
  const { kind, dataset, engine, fates, rules, places, asker } = stage;
  const drawn: ACase = { ...of.asked, ...asker };
  const posed = pose(dataset, drawn, kind !== 'MYSQL');
  const { definition, conditions, isWorksheet, sort, limit, offset } = posed.asked;
  const from = drawn.tables[drawn.from % drawn.tables.length] ?? 'orders';
  const near = nearTables(posed.alone, drawn, from);
  const tests = of.token.map((test) => conditionOf(drawn, test, near));
  const token = enforced(tests, 'always');
  const marts = { stored: withColumnRules(posed.shared, rules), masked: rawMart(posed.shared, fates) };
  await judgePair(tally, async (isMasked) => {
    const [place, mart] = isMasked ? [places.masked, marts.masked] : [places.stored, marts.stored];
    const asked = question(place, mart, posed.clientId, definition, {
      conditions: [...conditions, ...(isMasked ? rawConditions(fates, token) : token)],
      joinModel: isWorksheet ? 'single' : 'multi',
      timezone: drawn.timezone,
      today: theDay,
      sort: drawn.ask === 'underlying' ? null : sort,
      ...{ limit, offset },
    });
    if (drawn.ask === 'answer') return engine.query(asked);
    if (drawn.ask === 'underlying') return engine.underlying(asked);
    return engine.options({ ...asked, column: at(place, posed.option), search: posed.search });
  });
};

/** Statements that name texts and dates, too. Masked texts are grouped byte by byte. */
const ownStatements = [
  'SELECT o.code AS k, count(*) AS n FROM orders o GROUP BY o.code',
  "SELECT o.id AS k, count(*) AS n FROM orders o WHERE o.label > 'b' GROUP BY o.id",
  'SELECT o.id AS k, max(o.price) AS n FROM orders o WHERE o.amount > 5 GROUP BY o.id',
  'SELECT o.id AS k, count(v.id) AS n FROM orders o JOIN visits v ON v.code = o.code GROUP BY o.id',
  'SELECT o.amount AS k, count(*) AS n FROM orders o GROUP BY o.amount',
  'SELECT v.id AS k, min(v.day) AS n FROM visits v LEFT JOIN orders o ON o.ref = v.ref GROUP BY v.id',
] as const;

export type AColumnStatement = {
  readonly base: AStatement;
  readonly own: number | null;
  readonly token: AStatement['conditions'];
};

export const aColumnStatement = (base: fc.Arbitrary<AStatement>): fc.Arbitrary<AColumnStatement> =>
  fc.record({
    base,
    own: fc.option(fc.nat(100), { freq: 3 }),
    token: base.map(({ conditions }) => conditions.filter(({ test }) => test.predicate !== 'isNull')),
  });

export const judgeColumnStatement = async (
  stage: ColumnsStage,
  { base, own, token }: AColumnStatement,
  tally: ColumnsTally,
): Promise<void> => {
  const { engine, fates, rules, places, asker } = stage;
  const statement = own === null ? base.statement : ownStatements[own % ownStatements.length];
  const mart = sqlMartOf(true, base.derived);
  const marts = { stored: withColumnRules(mart, rules), masked: rawMart(mart, fates) };
  const chosen = base.conditions.map(sqlCondition);
  const of = enforced(token.map(sqlCondition), 'always');
  await judgePair(tally, (isMasked) => {
    const [place, model] = isMasked ? [places.masked, marts.masked] : [places.stored, marts.stored];
    return engine.query(
      question(place, model, asker.tenant, definitionOf(statement ?? '', place), {
        conditions: [...chosen, ...(isMasked ? rawConditions(fates, of) : of)],
        limit: base.limit,
      }),
    );
  });
};
