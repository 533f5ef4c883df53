import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/domain/ports.js';
import {
  byClients,
  columnRef,
  createFolder,
  createLoggedEngine,
  datamart,
  insertInto,
  metric,
  question,
  refusalOf,
  table,
} from './world.js';

let folder: Awaited<ReturnType<typeof createFolder>>;
let engine: Engine;

beforeAll(async () => {
  folder = await createFolder();
  engine = createLoggedEngine().engine;
});
afterAll(async () => {
  await engine.close();
  await folder.remove();
});

/** The notes that each client sees in a table `notes` whose client column has this definition. */
const notesOf = async (
  name: string,
  column: string,
  datatype: string,
  ids: readonly (string | null)[],
  clientColumnType: 'NUMBER' | 'STRING' = 'STRING',
) => {
  const path = await folder.build(name, [
    `CREATE TABLE notes (owner ${column}, note VARCHAR)`,
    insertInto(
      'notes',
      ids.map((id, index) => [id, `${index}`]),
    ),
  ]);
  const mart = datamart({
    tenancy: byClients(clientColumnType),
    tables: [table('notes', { owner: datatype, note: 'VARCHAR' }, 'owner')],
  });
  const definition = metric('notes', { dimensions: [{ name: 'note', column: columnRef('notes.note') }] });
  return async (clientId: string): Promise<readonly unknown[]> =>
    (await engine.query(question(path, mart, clientId, definition))).rows.map(({ note }) => note);
};

describe('ids that look alike are different clients', () => {
  const texts = ['acme', 'ACME', 'acmé', 'acme\u0301', 'acme ', ' acme', "' OR 1=1 --", '%', '_', '1', '01', null];

  it.each([
    ['plain', 'VARCHAR'],
    ['nocase', 'VARCHAR COLLATE NOCASE'],
    ['noaccent', 'VARCHAR COLLATE NOACCENT'],
    ['both', 'VARCHAR COLLATE NOCASE.NOACCENT'],
  ])('in a %s column', async (name, column) => {
    const ask = await notesOf(name, column, 'VARCHAR', texts);
    for (const [index, id] of texts.entries()) if (id !== null) expect(await ask(id)).toEqual([`${index}`]);
    for (const stranger of ['Acme', 'acme\0', 'NULL', '*', "acme' --"]) expect(await ask(stranger)).toEqual([]);
  });

  it('as numbers beyond what JavaScript counts exactly', async () => {
    const numbers = ['9007199254740992', '9007199254740993', '1', '-1', '0', null];
    const ask = await notesOf('numbers', 'BIGINT', 'BIGINT', numbers, 'NUMBER');
    for (const [index, id] of numbers.entries()) if (id !== null) expect(await ask(id)).toEqual([`${index}`]);
    expect(await ask('2')).toEqual([]);
    for (const other of ['01', '1.0', '1e0', ' 1', '+1', '1abc', '-0']) {
      expect(await refusalOf(() => ask(other))).toMatchObject({ code: 'CLIENT_ID_ERROR' });
    }
  });
});

it('the type of the client column is the datasource’s, whatever the datamart says of it', async () => {
  const ask = await notesOf('lying', 'BIGINT', 'VARCHAR', ['1', '2']);
  expect(await refusalOf(() => ask('01'))).toMatchObject({ reason: 'client-column-type' });
});
