/** An own dashboard in a list, as guests read it. */
import { z } from 'zod';
import type { ListedBoard } from '../../../model/guest/own-board.js';
import type { Encoded } from '../../../platform/http/interface/callable.js';

export const listedBoard = z
  .object({
    id: z.string(),
    name: z.string(),
    isShared: z.boolean().describe('Whether all users of the client see it.'),
    isOwn: z.boolean().describe('Whether this guest made it.'),
  })
  .meta({ id: 'ListedGuestBoard' });

/** Encodes a board for a list. */
export const encodeListedBoard = ({ id, name, isShared, isOwn }: ListedBoard): Encoded<typeof listedBoard> => ({
  id,
  name,
  isShared,
  isOwn,
});
