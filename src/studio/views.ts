/**
 * Looking through the eyes of a tenant's user. The browser gets a sealed text instead of the user's guest token: it works
 * only with the session that asked for it, only for reading, and only as long as that session lives.
 */
import { z } from 'zod';
import type { Sealer } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import type { StudioSession } from '../domain/studio/person.js';
import { textOfSealed } from '../platform/sealing.js';

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

/** What a view may ask of the guests' interface. Everything else, and so every change, is refused. */
export type ViewUse = { readonly showsData: boolean; readonly builds?: true };

const definitionsOnly: ViewUse = { showsData: false };
const rows: ViewUse = { showsData: true };

export const viewOperations: Readonly<Record<string, ViewUse>> = {
  getGuestDashboard: definitionsOnly,
  getGuestMetric: definitionsOnly,
  getGuestBoard: definitionsOnly,
  queryGuestMetric: rows,
  queryGuestDashboard: rows,
  listGuestUnderlying: rows,
  listGuestFilterOptions: rows,
  downloadGuestCsv: rows,
  downloadGuestXlsx: rows,
  downloadGuestDashboardXlsx: rows,
  renderGuestDashboardPdf: rows,
  renderGuestDashboardPng: rows,
  renderGuestMetricPdf: rows,
  renderGuestMetricPng: rows,
  // An author builds on the user's fields, whether or not the user may build.
  listGuestFields: { showsData: false, builds: true },
};
