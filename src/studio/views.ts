/**
 * Looking through the eyes of a tenant's user. The browser gets a sealed text instead of the user's guest token: it works
 * only with the session that asked for it, only for reading, and only as long as that session lives.
 */
import { z } from 'zod';
import type { StudioSession } from '../model/person.js';
import { Refusal } from '../model/refusal.js';
import { type Sealer, textOfSealed } from '../platform/keys/sealing.js';

const sealedView = z.object({ token: z.string(), sessionId: z.string() });
export type View = z.output<typeof sealedView>;

const context = 'studio view';

export type Views = {
  readonly seal: (token: string, session: Pick<StudioSession, 'id'>) => string;
  /** Throws AUTHENTICATION_ERROR. */
  readonly open: (sealed: string | null) => View;
};

export const createViews = (sealer: Sealer): Views => ({
  seal: (token, { id: sessionId }) =>
    textOfSealed(sealer.seal(JSON.stringify({ token, sessionId } satisfies View), context)),
  open: (sealed) => {
    try {
      return sealedView.parse(JSON.parse(sealer.open(sealed ?? '', context)));
    } catch (cause) {
      throw new Refusal('AUTHENTICATION_ERROR', 'This view is not one of this Studio. Open it again.', {
        reason: 'studio-view-unknown',
        cause,
      });
    }
  },
});
