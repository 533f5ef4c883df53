/**
 * Stores the response to each delivery. A repeated webhook-id gets the same response, and its event is not applied
 * again.
 */
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import type { Ledger } from '../ledger/ledger.js';

export type Deliveries = {
  /**
   * Runs `work` and stores its result under the id, or returns the stored result. If `work` rejects, nothing is stored,
   * and the next attempt runs it again. Throws INVALID_REQUEST_BODY if the id was used with another event or body.
   */
  readonly once: <T extends object>(id: string, content: string, work: () => Promise<T>) => Promise<Once<T>>;
};
export type Once<T> = { readonly answer: T; readonly isReplay: boolean };

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
    await db
      .updateTable('hook_deliveries')
      .set({ done_at: clock.now(), answer: JSON.stringify(answer) })
      .where('delivery_ref', '=', deliveryRef)
      .execute();
  };
  return {
    once: async <T extends object>(id: string, content: string, work: () => Promise<T>) => {
      const deliveryRef = refOf(JSON.stringify(['webhook-id', id]));
      const row = await receive(deliveryRef, refOf(JSON.stringify(['webhook-body', content])));
      // `finish` stored it for this id and body, so it has the type that `work` returns.
      if (row.done_at !== null) return { answer: row.answer as T, isReplay: true };
      const answer = await work();
      await finish(deliveryRef, answer);
      return { answer, isReplay: false };
    },
  };
};
