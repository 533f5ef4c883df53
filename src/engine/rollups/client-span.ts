/** Which files may have rows of a client, by the first and the last one of each. Where it is not certain, all of them. */
import type { KeptFile } from '../../platform/files/rollup-folder.js';
import type { SqlType } from '../dialect/sql-type.js';
import type { Layout } from './layout.js';

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Negative: the one stands first in the files. Undefined: the order of such values is not known here. */
const compared = (one: string, other: string, kind: SqlType['kind']): number | undefined => {
  switch (kind) {
    case 'text':
      return Buffer.compare(Buffer.from(one), Buffer.from(other));
    case 'integer': {
      if (![one, other].every((text) => /^-?[0-9]+$/.test(text))) return undefined;
      const difference = BigInt(one) - BigInt(other);
      return difference < 0n ? -1 : difference > 0n ? 1 : 0;
    }
    case 'uuid':
      if (![one, other].every((text) => uuidPattern.test(text))) return undefined;
      return one < other ? -1 : one > other ? 1 : 0;
    default:
      return undefined;
  }
};

/** Whether the file may have rows of the client; undefined: rows of any client are asked for. */
export const mayHave = (
  clients: KeptFile['clients'],
  client: string | undefined,
  { columns }: Pick<Layout, 'columns'>,
): boolean => {
  const kind = columns.find(({ role }) => role === 'client')?.type.kind;
  if (clients === null || client === undefined || kind === undefined) return true;
  const [first, last] = clients;
  return (compared(client, first, kind) ?? 0) >= 0 && (compared(client, last, kind) ?? 0) <= 0;
};
