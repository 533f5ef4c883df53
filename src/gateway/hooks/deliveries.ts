/** Which deliveries were seen, and what was answered: the same webhook-id again is answered alike, and nothing is done. */
import type { Clock } from '../../domain/ports.js';
import { Refusal } from '../../domain/refusal.js';
import type { Ledger } from '../ledger/ledger.js';

export type Deliveries = {
  /**
   * What `work` answers, kept under the id once it is done; or what was kept. What throws is not kept: the next attempt does it again.
   * Throws INVALID_REQUEST_BODY where the id was used for something else.
   */
  readonly once: <T extends object>(id: string, content: string, work: () => Promise<T>) => Promise<Once<T>>;
};
export type Once<T> = { readonly answer: T; readonly isReplay: boolean };

/** Senders give up long before. A later one is taken for new: events may be applied twice. */
const keptForMs = 90 * 24 * 60 * 60 * 1000;

export const createDeliveries = ({ db, refOf }: Ledger, clock: Clock): Deliveries => {
  const receive = async (deliveryRef: string, bodyRef: string) => {
    await db
      .insertInto('hook_deliveries')
      .values({ delivery_ref: deliveryRef, body_ref: bodyRef, received_at: clock.now() })
      .onConflict((conflict) => conflict.column('delivery_ref').doNothing())
      .execute();
    const row = await db
      .selectFrom('hook_deliveries')
      .select(['body_ref', 'done_at', 'answer'])
      .where('delivery_ref', '=', deliveryRef)
      .executeTakeFirstOrThrow();
    if (row.body_ref === bodyRef) return row;
    throw new Refusal(
      'INVALID_REQUEST_BODY',
      'This webhook-id was sent before with another event or body: give each event an id of its own, and send the same body when trying again.',
      { reason: 'webhook-id-reused' },
    );
  };
  const finish = async (deliveryRef: string, answer: object): Promise<void> => {
    const now = clock.now();
    await db
      .updateTable('hook_deliveries')
      .set({ done_at: now, answer: JSON.stringify(answer) })
      .where('delivery_ref', '=', deliveryRef)
      .execute();
    const oldest = new Date(now.getTime() - keptForMs);
    await db.deleteFrom('hook_deliveries').where('received_at', '<', oldest).execute();
  };
  return {
    once: async <T extends object>(id: string, content: string, work: () => Promise<T>) => {
      const deliveryRef = refOf(JSON.stringify(['webhook-id', id]));
      const row = await receive(deliveryRef, refOf(JSON.stringify(['webhook-body', content])));
      // Written by `finish`, under this id and for this body.
      if (row.done_at !== null) return { answer: row.answer as T, isReplay: true };
      const answer = await work();
      await finish(deliveryRef, answer);
      return { answer, isReplay: false };
    },
  };
};
