/** The links of messages: what each is about, and a tag that nobody can guess. */
import { timingSafeEqual } from 'node:crypto';
import type { Tag } from '../model/ports.js';
import { everyone } from '../model/schedule/recipients.js';
import type { ClaimedDelivery } from '../model/schedule/schedule.js';
import { confirmPath, type Unsubscribed, unsubscribePath } from '../platform/http/pages/mail-links.js';

/** Takes the same time for any two texts of one length. */
const isSameText = (a: string, b: string): boolean =>
  Buffer.byteLength(a) === Buffer.byteLength(b) && timingSafeEqual(Buffer.from(a), Buffer.from(b));

export const createUnsubscribe = (tag: Tag, origin: string) => {
  const textOf = async ({ scheduleId, recipient }: Unsubscribed): Promise<string> =>
    recipient === null
      ? `${scheduleId}.${await tag(['unsubscribe', scheduleId])}`
      : `${scheduleId}.${Buffer.from(recipient).toString('base64url')}.${await tag(['unsubscribe', scheduleId, recipient])}`;
  return {
    urlOf: async ({ schedule: { id: scheduleId, recipients }, recipient }: ClaimedDelivery): Promise<string> =>
      `${origin}${unsubscribePath}/${await textOf({ scheduleId, recipient: recipients === null ? null : recipient })}`,
    read: async (text: string): Promise<Unsubscribed | undefined> => {
      const parts = text.split('.');
      const [scheduleId = '', encoded = ''] = parts;
      const recipient = parts.length < 3 ? null : Buffer.from(encoded, 'base64url').toString();
      const found = { scheduleId, recipient };
      return recipient !== everyone && isSameText(await textOf(found), text) ? found : undefined;
    },
  };
};

export const createConfirmLinks = (tag: Tag, origin: string) => {
  const textOf = async (addressId: string): Promise<string> =>
    `${addressId}.${await tag(['confirm-address', addressId])}`;
  return {
    urlOf: async (addressId: string): Promise<string> => `${origin}${confirmPath}/${await textOf(addressId)}`,
    read: async (text: string): Promise<string | undefined> => {
      const [addressId = ''] = text.split('.');
      return isSameText(await textOf(addressId), text) ? addressId : undefined;
    },
  };
};
