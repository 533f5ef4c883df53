import { DuckDBInstance } from '@duckdb/node-api';
import { readExact, type TreeNode, writeExact } from '../../parsing/sql-tree.js';

/** Where the text fails, by the tree of a text that does not parse. */
export const failureIn = (tree: TreeNode | undefined): unknown => (tree?.error === true ? tree.position : undefined);

export type DuckDbTrees = {
  /** The tree. `error` is true where the text does not parse. */
  readonly parse: (text: string) => Promise<TreeNode>;
  readonly print: (tree: TreeNode) => Promise<string>;
  readonly close: () => void;
};

/** Queries an in-memory database without any access. It parses and prints SQL, and never runs it. */
export const openTrees = async (): Promise<DuckDbTrees> => {
  const instance = await DuckDBInstance.create(':memory:', {
    enable_external_access: 'false',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    lock_configuration: 'true',
    threads: '1',
  });
  const connection = await instance.connect();
  const ask = async (expression: string, text: string): Promise<string> =>
    String((await connection.runAndReadAll(`SELECT ${expression}`, [text])).getRows()[0]?.[0]);
  return {
    parse: async (text) => readExact(await ask('json_serialize_sql($1::VARCHAR)', text)) as TreeNode,
    print: (tree) => ask('json_deserialize_sql($1::JSON)', writeExact(tree)),
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
};
