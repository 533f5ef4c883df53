/** What a view in Studio leaves out of a user's dashboard: it only reads, so it offers nothing else. */
import { withoutWrites } from '../../src/model/guest/access.js';

export type ShownBoard = {
  readonly data: Readonly<Record<string, unknown>> & { readonly permissions: Parameters<typeof withoutWrites>[0] };
};

/** The answer to a view of the user whose own answer this is. */
export const withoutOffers = ({ data, ...answer }: ShownBoard): ShownBoard => {
  const { scheduleFormats: _, chat: __, hasSummary: ___, hasOwnLayout: ____, ...shown } = data;
  return { ...answer, data: { ...shown, permissions: withoutWrites(data.permissions) } };
};
