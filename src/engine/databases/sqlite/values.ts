import type { Cell } from '../../../model/query/engine.js';
import { floatCell, integerCell } from '../../dialect/cells.js';

/** A value as the engine answers it. The dialect has written dates as ISO 8601 text. */
export const cellOf = (value: unknown): Cell => {
  if (value === null || value === undefined || typeof value === 'string') return value ?? null;
  if (typeof value === 'bigint') return integerCell(value);
  if (typeof value === 'number') return floatCell(value);
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : String(value);
};
