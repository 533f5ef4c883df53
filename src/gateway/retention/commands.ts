/** The operators' commands for holds. */
import { z } from 'zod';
import {
  type AdminCommand,
  adminCommand,
  declareCommand,
  moment,
  noInput,
  operatorsAlone,
} from '../common/admin-command.js';
import { tenantId } from '../policy/tenant-id.js';
import type { Holds } from './holds.js';

const reason = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[^\p{Cc}\p{Cs}]*\S[^\p{Cc}\p{Cs}]*$/u, 'text without control characters')
  .describe('why; the audit keeps it for ever, so it names no person');

const hold = z.object({
  id: z.string(),
  /** Null: all tenants. */
  clientId: z.string().nullable(),
  reason: z.string(),
  placedBy: z.string().nullable(),
  placedAt: moment,
});
const service = z.enum(['told', 'unreachable', 'unsupported']);

export const addHold = declareCommand(
  'hold-add',
  z.strictObject({ clientId: tenantId.nullable().describe('null: all tenants'), reason }),
  hold.extend({ isKnown: z.boolean(), service }),
  operatorsAlone,
);

export const removeHold = declareCommand(
  'hold-remove',
  z.strictObject({ id: z.string().min(1).max(100), reason }),
  hold.extend({ service }),
  operatorsAlone,
);

export const listHolds = declareCommand('hold-list', noInput, z.object({ holds: z.array(hold), service }), {
  reads: 'definitions',
  isChange: false,
});

/** `hold-add`, `hold-remove` and `hold-list`. Studio offers none of them. */
export const holdCommands = ({ add, remove, list }: Holds): readonly AdminCommand[] => [
  adminCommand(addHold, (what, { name }) => add(what, name)),
  adminCommand(removeHold, (what, { name }) => remove(what, name)),
  adminCommand(listHolds, list),
];
