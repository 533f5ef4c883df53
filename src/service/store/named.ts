import type { Kysely } from 'kysely';
import { assertUpdated, wasInserted } from './query.js';
import type { Tables } from './tables.js';

type Named = { readonly id: string; readonly name: string };
type NamedTable = 'data_apps' | 'datasources' | 'datamarts' | 'workspaces';

/** How one of these tables stores its items. `what` is the name of an item in error messages. */
export type NamedRows<Row extends Named, Item> = {
  readonly table: NamedTable;
  readonly what: string;
  readonly decode: (row: Row) => Item;
  readonly encode: (item: Item) => Named;
};

/** Creates the store of a table whose rows have an id and a unique name. */
export const createNamedStore = <Row extends Named, Item>(
  db: Kysely<Tables>,
  { table, what, decode, encode }: NamedRows<Row, Item>,
) => {
  // The statements below use only `id` and `name`, which all four tables have.
  const named = db as unknown as Kysely<Record<NamedTable, Row>>;
  const find = async (column: 'id' | 'name', value: string): Promise<Item | undefined> => {
    const [row] = (await named
      .selectFrom(table)
      .selectAll()
      .where(column, '=', value as never)
      .execute()) as Row[];
    return row && decode(row);
  };
  return {
    /** Returns false and writes nothing if the name is taken, so only one of two simultaneous creates succeeds. */
    insert: async (item: Item): Promise<boolean> =>
      wasInserted(
        await named
          .insertInto(table)
          .values(encode(item) as never)
          .onConflict((oc) => oc.doNothing())
          .executeTakeFirst(),
      ),
    update: async (item: Item): Promise<void> => {
      const { id, ...columns } = encode(item);
      assertUpdated(
        await named
          .updateTable(table)
          .set(columns as never)
          .where('id', '=', id as never)
          .executeTakeFirst(),
        what,
      );
    },
    findByName: (name: string) => find('name', name),
    findById: (id: string) => find('id', id),
  };
};

export type NamedStore<Item> = ReturnType<typeof createNamedStore<Named, Item>>;
