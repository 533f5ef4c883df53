/**
 * Variants of a protocol, of which no server could be had. All that is sent to each is recorded in variants/, so that a
 * reviewer can compare it with the documents of that database.
 */
import { describe, expect, it, test } from 'vitest';
import type { Database, ResultTable } from '../../src/engine/connections/database.js';
import { kinds } from '../../src/engine/databases/kinds.js';
import { createMysqlDialect } from '../../src/engine/databases/mysql/dialect.js';
import { readCatalog } from '../../src/engine/databases/mysql/schema.js';
import { assertAurora, settingsOf } from '../../src/engine/databases/mysql/session.js';
import { postgresForms } from '../../src/engine/databases/postgres/forms.js';
import type { Catalog } from '../../src/engine/dialect/catalog.js';
import type { Dialect, Statement } from '../../src/engine/dialect/dialect.js';
import type { Ask } from '../../src/engine/dialect/source-tables.js';
import { prepare } from '../../src/engine/prepare/prepare.js';
import { withColumnRules } from '../../src/model/datamart/column-rules.js';
import type { Datamart } from '../../src/model/datamart/datamart.js';
import { type Variant, variantNames, variants } from '../../src/model/organization.js';
import type { Cell, MetricQuestion } from '../../src/model/query/engine.js';
import { Refusal } from '../../src/model/refusal.js';
import { columnRef, condition, datamart, metric, question, refusalOf, relationship, table } from './world.js';

type PostgresVariant = keyof typeof postgresForms;
type Recorded = Variant | 'POSTGRES';
const isOfPostgres = (name: string): name is PostgresVariant => Object.hasOwn(postgresForms, name);

/** Columns as PostgreSQL names their types. */
const columns = {
  clients: { id: 'text', name: 'text' },
  shops: { code: 'text', client: 'text', state: 'text' },
  sales: {
    id: 'bigint',
    client: 'text',
    shop: 'text',
    day: 'date',
    'at@': 'timestamp without time zone',
    amount: 'bigint',
    price: 'numeric(10,2)',
    weight: 'double precision',
    note: 'text',
  },
  lines: { sale: 'bigint', sku: 'text', quantity: 'integer' },
} as const;

const mysqlNames: Readonly<Record<string, string>> = {
  text: 'varchar(190)',
  'timestamp without time zone': 'datetime(6)',
  'numeric(10,2)': 'decimal(10,2)',
  'double precision': 'double',
  integer: 'int',
};

const mart: Datamart = datamart({
  tables: [
    table('clients', columns.clients),
    table('shops', columns.shops, 'client'),
    table('sales', columns.sales, 'client'),
    table('lines', columns.lines),
  ],
  relationships: [relationship('sales.shop', 'shops.code', 'LEFT JOIN'), relationship('lines.sale', 'sales.id')],
});

const rowsOf = (write: (name: string, column: string, type: string) => readonly Cell[]): readonly (readonly Cell[])[] =>
  Object.entries(columns).flatMap(([name, all]) =>
    Object.entries(all).map(([column, type]) => write(name, column.replace('@', ''), type)),
  );

/** Answers as the catalog of each database does, and keeps what was asked. */
const createAsk =
  (asked: string[]): Ask =>
  async (sql) => {
    asked.push(sql);
    if (sql.includes('a.attcollation')) {
      return rowsOf((name, column, type) => ['main', name, column, type, true, 'shop', '100', true, '25 100']);
    }
    if (sql.includes('COLUMN_TYPE')) {
      return rowsOf((name, column, type) => {
        const own = mysqlNames[type] ?? type;
        return ['main', name, column, own, 'YES', type === 'text' ? 'utf8mb4_0900_ai_ci' : null];
      });
    }
    if (!sql.includes('ordinal_position')) return [];
    return rowsOf((name, column, type) => {
      const isNumeric = type.startsWith('numeric');
      const own = type === 'text' ? 'character varying' : type;
      return [
        'main',
        name,
        column,
        isNumeric ? 'numeric' : own,
        'YES',
        isNumeric ? 10 : null,
        isNumeric ? 2 : null,
        'shop',
      ];
    });
  };

/** The catalog of the variant, and the statements that read it. */
const catalogOf = async (name: Recorded): Promise<{ readonly catalog: Catalog; readonly asked: readonly string[] }> => {
  const asked: string[] = [];
  const ask = createAsk(asked);
  if (!isOfPostgres(name)) return { catalog: await readCatalog(ask, null), asked };
  const form = postgresForms[name];
  const catalog = await form.catalog.readCatalog(ask, null);
  await form.catalog.readSourceTables(ask);
  await form.catalog.readClientDatabases(ask, { database: 'shop', schema: null });
  await form.readRights(ask);
  return { catalog, asked };
};

const dialectOf = (name: Recorded): Dialect =>
  isOfPostgres(name) ? postgresForms[name].dialect : createMysqlDialect({ isMariaDb: false, variant: 'AURORA_MYSQL' });

const sum = { name: 'sum', aggregate: 'SUM', column: columnRef('sales.amount') } as const;
const month = { name: 'month', column: columnRef('sales.day'), grain: 'month' } as const;
const shop = { name: 'shop', column: columnRef('sales.shop') } as const;

type Asked = {
  readonly name: string;
  readonly definition: MetricQuestion['definition'];
  readonly parts?: Partial<MetricQuestion>;
  readonly of?: Datamart;
};

const measured = (aggregate: 'AVG' | 'MIN' | 'MAX' | 'MEDIAN' | 'COUNT_DISTINCT', path: string) => ({
  name: `${aggregate} ${path}`,
  aggregate,
  column: columnRef(path),
});

const questions: readonly Asked[] = [
  {
    name: 'the sum of each month, of rows that a token restricts by text, a list and a number',
    definition: metric('sales', { dimensions: [month], measures: [sum] }),
    parts: {
      conditions: [
        condition('sales.note', { kind: 'compare', operator: '=', value: 'west' }),
        condition('sales.shop', { kind: 'oneOf', values: ['s1', "s'2"] }),
        condition('sales.price', { kind: 'compare', operator: '>', value: 1.5 }),
      ],
    },
  },
  {
    name: 'rows of a table that has its client through its parent',
    definition: metric('lines', {
      dimensions: [{ name: 'sku', column: columnRef('lines.sku') }],
      measures: [{ name: 'rows', aggregate: 'COUNT' }],
    }),
  },
  {
    name: 'a looked-up text, the second page',
    definition: metric('sales', { dimensions: [{ name: 'state', column: columnRef('shops.state') }], measures: [sum] }),
    parts: { limit: 10, offset: 10 },
  },
  {
    name: 'averages, extremes and distinct values, sorted by a float',
    definition: metric('sales', {
      dimensions: [shop],
      measures: [
        measured('AVG', 'sales.amount'),
        measured('MAX', 'sales.weight'),
        measured('MIN', 'sales.weight'),
        measured('COUNT_DISTINCT', 'sales.note'),
      ],
      sort: [{ name: 'MAX sales.weight', direction: 'DESC' }],
    }),
    parts: { conditions: [condition('sales.weight', { kind: 'compare', operator: '>', value: 2.5 })] },
  },
  { name: 'the median of a number', definition: metric('sales', { measures: [measured('MEDIAN', 'sales.amount')] }) },
  { name: 'the median of a date', definition: metric('sales', { measures: [measured('MEDIAN', 'sales.day')] }) },
  {
    name: 'days of the week in a timezone',
    definition: metric('sales', {
      dimensions: [{ name: 'weekday', column: columnRef('sales.at'), grain: 'dayOfWeek' }],
      measures: [sum],
    }),
    parts: { timezone: 'America/New_York' },
  },
  {
    name: 'all but a list, within a range of days',
    definition: metric('sales', { measures: [sum] }),
    parts: {
      conditions: [
        condition('sales.note', { kind: 'noneOf', values: ['a', 'b'] }),
        condition('sales.day', { kind: 'range', from: '2024-01-01', to: '2024-02-01', toIsExclusive: true }),
      ],
    },
  },
  {
    name: 'text by a pattern',
    definition: metric('sales', { measures: [sum] }),
    parts: { conditions: [condition('sales.note', { kind: 'like', pattern: 'a\\_b%' })] },
  },
  {
    name: 'the month before',
    definition: metric('sales', {
      dimensions: [month],
      measures: [sum],
      calculations: [
        { kind: 'previousPeriod', name: 'before', of: 'sum', along: 'month', periods: 1, result: 'value' },
      ],
    }),
  },
  {
    name: 'a masked column',
    definition: metric('sales', { dimensions: [{ name: 'note', column: columnRef('sales.note') }], measures: [sum] }),
    of: withColumnRules(mart, { hideColumns: [], maskColumns: { 'main.sales.note': 'last4' } }),
  },
  {
    name: 'a hashed column',
    definition: metric('sales', { dimensions: [{ name: 'note', column: columnRef('sales.note') }], measures: [sum] }),
    of: withColumnRules(mart, { hideColumns: [], maskColumns: { 'main.sales.note': 'hash' } }),
  },
  {
    name: 'a FULL JOIN',
    definition: metric('sales', { dimensions: [{ name: 'state', column: columnRef('shops.state') }], measures: [sum] }),
    of: { ...mart, relationships: mart.relationships.map((one) => ({ ...one, join: 'FULL JOIN' as const })) },
  },
  {
    name: 'SQL of the author',
    definition: {
      kind: 'sql',
      chart: { type: 'table' },
      sql: 'SELECT shop AS d FROM sales',
      ...{ dimensions: [{ name: 'd' }], measures: [], filters: [], rlsVariables: [], sort: [], limit: null },
    },
  },
];

/** What the database says of the author's SQL. */
const described: ResultTable = { names: ['d'], dataTypes: ['string'], rows: [] };

const write = ({ sql, parameters }: Statement): string =>
  parameters.length === 0 ? `${sql};` : `${sql};\n-- values: ${JSON.stringify(parameters)}`;

/** The statement of a question, or why it is refused. */
const recorded = async (name: Recorded, dialect: Dialect, catalog: Catalog, asked: Asked): Promise<string> => {
  const database: Database = { dialect, catalog, run: async () => described, stream: async () => undefined };
  const place = {
    datasource: {
      ...{ id: 'd1', name: 'warehouse', syncedAt: null, datasourceType: name, host: 'db', port: 5432 },
      ...{ username: 'reader', password: '', database: 'shop', schema: null, isSsl: true },
    },
    schemaName: 'main',
  } as const;
  const { definition, parts, of = mart } = asked;
  const about = question(place, of, 'acme', definition, parts);
  const ask =
    definition.kind === 'sql'
      ? { kind: 'sql' as const, question: { ...about, definition } }
      : { kind: 'answer' as const, question: { ...about, definition } };
  const running = { isWritten: false, maskKeyOf: () => 'a key' };
  try {
    const { compiled } = await prepare(database, ask, running, async () =>
      Promise.reject(new Error('no rows are read')),
    );
    return write(compiled.page);
  } catch (error) {
    if (error instanceof Refusal) return `-- refused: ${error.message}`;
    throw error;
  }
};

const sessionOf = (name: Recorded): readonly Statement[] =>
  isOfPostgres(name)
    ? [
        { sql: 'BEGIN READ ONLY', parameters: [] },
        ...postgresForms[name].settings({ timeoutMs: 30_000, clientId: "ac'me\\" }),
      ]
    : [
        { sql: settingsOf(false, 30_000), parameters: [] },
        { sql: 'START TRANSACTION READ ONLY', parameters: [] },
      ];

type Block = { readonly title: string; readonly text: string };

const blocksOf = async (name: Recorded): Promise<readonly Block[]> => {
  const { catalog, asked } = await catalogOf(name);
  const blocks = [{ title: 'before each statement', text: sessionOf(name).map(write).join('\n') }];
  for (const one of questions)
    blocks.push({ title: one.name, text: await recorded(name, dialectOf(name), catalog, one) });
  return [...blocks, ...asked.map((sql, at) => ({ title: `the catalog, statement ${at + 1}`, text: `${sql};` }))];
};

const headed = ({ title, text }: Block): string => `-- ${title}\n${text}\n`;

test('what PostgreSQL is sent is recorded, for a comparison', async () => {
  const blocks = await blocksOf('POSTGRES');
  await expect(blocks.map(headed).join('\n')).toMatchFileSnapshot('variants/POSTGRES.sql');
});

test.each(variantNames)('what %s is sent is recorded, but for what PostgreSQL is sent too', async (name) => {
  const usual = isOfPostgres(name) ? await blocksOf('POSTGRES') : [];
  const parts = (await blocksOf(name)).map((block, at) =>
    block.text === usual[at]?.text ? `-- ${block.title}: as in POSTGRES.sql\n` : headed(block),
  );
  const head = `-- ${variants[name].title}: recorded, and run on no server. Values are bound.\n`;
  await expect([head, ...parts].join('\n')).toMatchFileSnapshot(`variants/${name}.sql`);
});

describe('what would show a tenant the rows of another one', () => {
  const textOf = async (name: Variant, index: number): Promise<string> => {
    const one = questions[index];
    if (one === undefined) throw new Error('no such question');
    return recorded(name, dialectOf(name), (await catalogOf(name)).catalog, one);
  };

  it('every statement of every variant has the tenant in each leaf', async () => {
    for (const name of variantNames) {
      const { catalog } = await catalogOf(name);
      for (const one of questions) {
        const text = await recorded(name, dialectOf(name), catalog, one);
        if (text.startsWith('-- refused')) continue;
        expect(text, `${name}: ${one.name}`).toMatch(/"acme"/);
      }
    }
  });

  it('Redshift compares a client byte by byte: neither trailing blanks nor case, nor a text that is cut off', async () => {
    const text = await textOf('REDSHIFT', 0);
    expect(text).toContain(
      `COLLATE(CAST("client" AS varchar(65535)) || '|', 'case_sensitive') = COLLATE(CAST($2 AS varchar(65535)) || '|', 'case_sensitive')`,
    );
    expect(text).not.toMatch(/AS text\)/);
    expect(await textOf('REDSHIFT', 1)).toMatch(/IN \(SELECT/);
  });

  it('Citus gives the client to its workers, quoted', () => {
    const texts = sessionOf('CITUS').map(({ sql }) => sql);
    const first = texts.indexOf("SET LOCAL citus.propagate_set_commands TO E'local'");
    expect(first).toBe(1);
    expect(texts.slice(first)).toContain(String.raw`SET LOCAL guestlist.client_id TO E'ac''me\\'`);
  });

  it('keys of Redshift and CockroachDB prove no cardinality', async () => {
    for (const name of ['REDSHIFT', 'COCKROACHDB'] as const)
      expect((await catalogOf(name)).catalog.uniqueKeys?.size, name).toBe(0);
  });

  it('SQL of authors is read only where the database is PostgreSQL or MySQL itself', () => {
    expect(variantNames.filter((name) => kinds[name].parser === null)).toEqual(['COCKROACHDB', 'REDSHIFT']);
    expect(variantNames.filter((name) => dialectOf(name).barrier === null)).toEqual([
      'CITUS',
      'COCKROACHDB',
      'REDSHIFT',
    ]);
  });

  it('Aurora MySQL 2, MySQL 5.7 and MariaDB are refused by their version', async () => {
    for (const version of ['5.7.12', '8.0.16', '10.11.6-MariaDB', ''])
      expect(await refusalOf(() => assertAurora('shop', version)), version).toMatchObject({
        reason: 'datasource-settings',
      });
    expect(() => assertAurora('shop', '8.0.39')).not.toThrow();
  });
});
