import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds, type Kind } from './test-databases.js';
import {
  byClients,
  columnRef,
  createLoggedEngine,
  datamart,
  metric,
  question,
  refusalOf,
  relationship,
  table,
} from './world.js';

/** Definitions of a client column whose own collation treats different ids as equal. */
const loose: Readonly<Record<Kind, readonly (readonly [string, string])[]>> = {
  DUCKDB: [
    ['plain', 'VARCHAR'],
    ['nocase', 'VARCHAR COLLATE NOCASE'],
    ['noaccent', 'VARCHAR COLLATE NOACCENT'],
    ['both', 'VARCHAR COLLATE NOCASE.NOACCENT'],
  ],
  POSTGRES: [
    ['plain', 'TEXT'],
    ['bytes', 'VARCHAR(40) COLLATE "C"'],
    ['without case and accents', 'TEXT COLLATE public.loose'],
    ['citext', 'public.citext'],
    ['a domain', 'public.tenant_text'],
    ['a domain of a domain', 'public.tenant_short'],
    ['a domain without case and accents', 'public.tenant_loose'],
    ['a domain of citext', 'public.tenant_citext'],
    ['a domain of text of some length', 'public.tenant_char'],
  ],
  MYSQL: [
    ['without case, accents and trailing blanks', 'VARCHAR(40)'],
    ['bytes with padding', 'VARCHAR(40) COLLATE utf8mb4_bin'],
    ['another Unicode', 'TEXT CHARACTER SET utf8mb3 COLLATE utf8mb3_unicode_ci'],
    ['two bytes each', 'VARCHAR(40) CHARACTER SET ucs2'],
  ],
  CLICKHOUSE: [
    ['plain', 'VARCHAR'],
    ['a dictionary', 'LowCardinality(Nullable(String))'],
    ['filled up with NUL', 'CHAR(40)'],
  ],
  SQLITE: [
    ['plain', 'VARCHAR'],
    ['without case', 'TEXT COLLATE NOCASE'],
    ['without trailing blanks', 'TEXT COLLATE RTRIM'],
  ],
};

/** Domains for client columns. One has its own `=`, which would match every row. */
const domains = [
  'CREATE DOMAIN public.tenant_text AS text',
  "CREATE DOMAIN public.tenant_short AS public.tenant_text CHECK (VALUE <> '')",
  'CREATE DOMAIN public.tenant_loose AS text COLLATE public.loose',
  'CREATE DOMAIN public.tenant_citext AS public.citext',
  'CREATE DOMAIN public.tenant_char AS varchar(40)',
  'CREATE DOMAIN public.tenant_number AS bigint',
  'CREATE DOMAIN public.tenant_counted AS public.tenant_number CHECK (VALUE > -5)',
  'CREATE DOMAIN public.tenant_uuid AS uuid',
  'CREATE DOMAIN public.tenant_row AS public.tenant_uuid',
  'CREATE DOMAIN public.tenant_own AS bigint',
  'CREATE FUNCTION public.always(public.tenant_own, bigint) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$',
  'CREATE OPERATOR public.= (LEFTARG = public.tenant_own, RIGHTARG = bigint, FUNCTION = public.always)',
  'CREATE DOMAIN public.tenant_kind AS main.gl_kind',
];

const texts = ['acme', 'ACME', 'acmé', 'acme\u0301', 'acme ', ' acme', "' OR 1=1 --", '%', '_', '1', '01', null];

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let engine: Engine;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  /** Returns the notes that each client sees in a table `notes` with this client column. */
  const notesOf = async (
    name: string,
    column: string,
    ids: readonly (string | null)[],
    clientColumnType: 'NUMBER' | 'STRING' = 'STRING',
  ) => {
    const place = await builder.build(name, [
      ...(kind === 'POSTGRES' ? domains : []),
      { name: 'notes', columns: { owner: column, note: 'VARCHAR' }, rows: ids.map((id, index) => [id, `${index}`]) },
    ]);
    const mart = datamart({
      tenancy: byClients(clientColumnType),
      tables: [table('notes', { owner: 'VARCHAR', note: 'VARCHAR' }, 'owner')],
    });
    const definition = metric('notes', { dimensions: [{ name: 'note', column: columnRef('notes.note') }] });
    return async (clientId: string): Promise<readonly unknown[]> =>
      (await engine.query(question(place, mart, clientId, definition))).rows.map(({ note }) => note);
  };

  describe('similar ids are different clients', () => {
    it.each(loose[kind])('in a column: %s', async (name, column) => {
      const ask = await notesOf(name, column, texts);
      for (const [index, id] of texts.entries()) if (id !== null) expect(await ask(id), id).toEqual([`${index}`]);
      for (const stranger of ['Acme', 'NULL', '*', "acme' --", 'acme  ', '?', '\u{1f642}']) {
        expect(await ask(stranger), stranger).toEqual([]);
      }
    });

    it('an id with a NUL character matches no row', async () => {
      const ask = await notesOf('nul', 'VARCHAR', ['acme']);
      if (kind === 'POSTGRES') expect(await refusalOf(() => ask('acme\0'))).toMatchObject({ reason: 'value-with-nul' });
      else expect(await ask('acme\0')).toEqual([]);
    });

    it("ids that are similar as numbers beyond JavaScript's exact integers are different clients", async () => {
      const numbers = ['9007199254740992', '9007199254740993', '1', '-1', '0', null];
      const ask = await notesOf('numbers', 'BIGINT', numbers, 'NUMBER');
      for (const [index, id] of numbers.entries()) if (id !== null) expect(await ask(id)).toEqual([`${index}`]);
      expect(await ask('2')).toEqual([]);
      for (const other of ['01', '1.0', '1e0', ' 1', '+1', '1abc', '-0']) {
        expect(await refusalOf(() => ask(other))).toMatchObject({ code: 'CLIENT_ID_ERROR' });
      }
    });
  });

  it("the type of the client column is the datasource's, whatever the datamart declares", async () => {
    const ask = await notesOf('lying', 'BIGINT', ['1', '2']);
    expect(await refusalOf(() => ask('01'))).toMatchObject({ reason: 'client-column-type' });
  });

  it('trailing blanks that CHAR adds do not change the id', async () => {
    const ids = ['acme', 'ACME', 'acmé', '1'];
    const ask = await notesOf('padded', 'CHAR(12)', ids);
    for (const [index, id] of ids.entries()) expect(await ask(id)).toEqual([`${index}`]);
    expect(await ask('acme ')).toEqual([]);
    expect(await ask('Acme')).toEqual([]);
  });

  it.runIf(kind === 'POSTGRES')(
    "domains over numbers and UUIDs work, with the database's own `=` for them",
    async () => {
      const numbers = ['9007199254740992', '9007199254740993', '1', null];
      for (const domain of ['public.tenant_number', 'public.tenant_counted', 'public.tenant_own']) {
        const ask = await notesOf(domain, domain, numbers, 'NUMBER');
        for (const [index, id] of numbers.entries()) if (id !== null) expect(await ask(id)).toEqual([`${index}`]);
        expect(await refusalOf(() => ask('01'))).toMatchObject({ code: 'CLIENT_ID_ERROR' });
      }
      const uuids = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b', null];
      for (const domain of ['public.tenant_uuid', 'public.tenant_row']) {
        const ask = await notesOf(domain, domain, uuids);
        expect(await ask(uuids[0] ?? '')).toEqual(['0']);
        expect(await ask(uuids[1] ?? '')).toEqual(['1']);
        expect(await refusalOf(() => ask((uuids[0] ?? '').toUpperCase()))).toMatchObject({ code: 'CLIENT_ID_ERROR' });
      }
    },
  );

  it.runIf(kind === 'POSTGRES')(
    'a client column of an enum type, or of a domain over one, is refused by name',
    async () => {
      for (const type of ['gl_kind', 'public.tenant_kind']) {
        const ask = await notesOf(type, type, ['x']);
        expect(await refusalOf(() => ask('x'))).toMatchObject({
          reason: 'client-column-type',
          message: expect.stringContaining('owner'),
        });
      }
    },
  );

  it.runIf(kind === 'MYSQL')("a character set without the id's characters contains no row of that client", async () => {
    const ask = await notesOf('latin', 'VARCHAR(40) CHARACTER SET latin1', ['?', 'acmé', 'acme', '€']);
    expect(await ask('?')).toEqual(['0']);
    expect(await ask('acmé')).toEqual(['1']);
    expect(await ask('€')).toEqual(['3']);
    expect(await ask('日')).toEqual([]);
    const cyrillic = await notesOf('cyrillic', 'VARCHAR(40) CHARACTER SET cp1251', ['acme']);
    expect(await refusalOf(() => cyrillic('acme'))).toMatchObject({ reason: 'client-column-type' });
  });

  it.runIf(kind === 'MYSQL')(
    'a path through text of which two values may be read as one leads to no client',
    async () => {
      const key = 'VARCHAR(40) CHARACTER SET cp1251';
      const place = await builder.build('ambiguous', [
        `CREATE TABLE owners (word ${key}, owner VARCHAR(40))`,
        `CREATE TABLE notes (word ${key}, text VARCHAR(40))`,
        "INSERT INTO owners VALUES ('a', 'acme')",
        "INSERT INTO notes VALUES ('a', 'mine')",
      ]);
      const mart = datamart({
        tenancy: byClients(),
        tables: [
          table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
          table('owners', { word: 'VARCHAR', owner: 'VARCHAR' }, 'owner'),
          table('notes', { word: 'VARCHAR', text: 'VARCHAR' }),
        ],
        relationships: [relationship('notes.word', 'owners.word')],
      });
      const notes = metric('notes', { dimensions: [{ name: 'text', column: columnRef('notes.text') }] });
      expect(await refusalOf(() => engine.query(question(place, mart, 'acme', notes)))).toMatchObject({
        reason: 'tenancy-join-types',
      });
    },
  );
});
