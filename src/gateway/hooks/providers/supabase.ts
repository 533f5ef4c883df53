/**
 * Supabase: a database webhook on the host's table of organizations. The body is not signed: a header that the host adds
 * to the webhook is all, so deletions are ignored.
 *
 * Verified: `type` INSERT, UPDATE or DELETE, `table`, `schema`, `record` and `old_record`, and that the headers are the
 * host's choice (https://supabase.com/docs/guides/database/webhooks). pg_net sends once, and gives neither an id nor a
 * time: the id is that of the text, and the moment `created_at` of the row, else now.
 */
import {
  type Adapter,
  digestOf,
  findText,
  organizationAt,
  organizationOf,
  organizationPaths,
  textAt,
  timeOf,
  valueAt,
} from './provider.js';

/** An id may be a number of the database. */
const idOf = (event: unknown): string => {
  const id = valueAt(event, 'record.id');
  return typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : organizationAt(event, 'record.id');
};

export const supabase = ({ header, table }: { readonly header: string; readonly table: string }): Adapter => ({
  scheme: { by: 'bearer', header },
  claims: () => organizationPaths('supabase'),
  read: ({ event, text, now }) => {
    const type = `${textAt(event, 'type')} ${textAt(event, 'table')}`;
    if (findText(event, 'table') !== table || type.startsWith('UPDATE ')) return { ignored: 'event-not-mapped', type };
    if (type.startsWith('DELETE ')) return { ignored: 'unsigned-may-only-sign-up', type };
    if (!type.startsWith('INSERT ')) return { ignored: 'event-not-mapped', type };
    const id = idOf(event);
    const occurredAt = timeOf(valueAt(event, 'record.created_at')) ?? now;
    return {
      eventId: digestOf(text),
      type,
      kind: 'signed-up',
      occurredAt,
      claims: organizationOf('supabase', id),
    };
  },
});
