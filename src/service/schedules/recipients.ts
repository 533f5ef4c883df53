/** Whom a guest may send a dashboard to, besides itself. The policy decides, at each call anew. */
import { assertReports } from '../../model/guest/access.js';
import type { GuestCaller } from '../../model/guest/caller.js';
import type { Clock, Ids, Tag } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { readAddress } from '../../model/schedule/address.js';
import {
  type Audience,
  findMailbox,
  hasNone,
  isOfMailbox,
  listMailboxes,
  type Mailbox,
  type Recipients,
} from '../../model/schedule/recipients.js';
import type { Reports } from '../../model/schedule/reports.js';
import type { Delivery, Schedule, ScheduleOwner } from '../../model/schedule/schedule.js';
import { assertOn, ownerOf, type SchedulingDeps } from '../guest/may-schedule.js';
import { openDashboard } from '../guest/scope.js';
import type { Store } from '../store/store.js';

type Deps = { readonly reports: SchedulingDeps['reports'] & Pick<Reports, 'findAudience'> };

/** Throws UNAUTHORIZED unless the policy lets the user send this dashboard to others. */
export const loadAudience = async ({ reports }: Deps, owner: ScheduleOwner, openedId: string): Promise<Audience> => {
  assertOn({ reports });
  const audience = await reports.findAudience(owner, openedId);
  if (audience !== null) return audience;
  throw new Refusal('UNAUTHORIZED', 'You may not send this dashboard to others.', { reason: 'report-to-others' });
};

const invalid = (message: string): Refusal =>
  new Refusal('INVALID_REQUEST_BODY', `recipients${message}`, { reason: 'report-recipients' });

/** Throws UNAUTHORIZED, or INVALID_REQUEST_BODY for recipients who could get nothing. */
export const assertRecipients = async (
  deps: Deps,
  owner: ScheduleOwner,
  openedId: string,
  recipients: Recipients,
): Promise<void> => {
  const { users, domains } = await loadAudience(deps, owner, openedId);
  const known = new Set(users.map(({ userIdentifier }) => userIdentifier));
  if (hasNone(recipients)) throw invalid(': expected a user, a role or an address; or null for yourself.');
  const unknown = recipients.users.findIndex((name) => !known.has(name));
  if (unknown >= 0) throw invalid(`.users[${unknown}]: expected one of the users of \`GET …/schedules/recipients\`.`);
  const barred = recipients.addresses.findIndex((address) => readAddress(address, domains) === undefined);
  if (barred < 0) return;
  const expected = domains.length === 0 ? 'no address: only users get it' : `an address of ${domains.join(', ')}`;
  throw invalid(`.addresses[${barred}]: expected ${expected}.`);
};

type Addresses = { readonly store: Pick<Store, 'reportAddresses'>; readonly tag: Tag };

const mailboxesOf = (tag: Tag, { owner, recipients }: Pick<Schedule, 'owner' | 'recipients'>) =>
  listMailboxes(tag, owner, recipients?.addresses ?? []);

/** The schedule's mailboxes that nobody has confirmed. */
const listUnconfirmed = async (
  { store, tag }: Addresses,
  schedule: Pick<Schedule, 'owner' | 'recipients'>,
): Promise<readonly Mailbox[]> => {
  const found: Mailbox[] = [];
  for (const mailbox of await mailboxesOf(tag, schedule)) {
    const known = await findMailbox(store.reportAddresses.find, schedule.owner, mailbox);
    if (known === undefined || known.confirmedAt === null) found.push(mailbox);
  }
  return found;
};

export const unconfirmedOf = async (
  addresses: Addresses,
  schedule: Pick<Schedule, 'owner' | 'recipients'>,
): Promise<readonly string[]> => (await listUnconfirmed(addresses, schedule)).map(({ address }) => address);

/** Asks the mailboxes of a schedule that nobody has confirmed: each by a delivery of its own. */
export const askAddresses = async (
  store: Store,
  { tag, ids, clock }: { readonly tag: Tag; readonly ids: Ids; readonly clock: Clock },
  schedule: Schedule,
): Promise<void> => {
  const now = clock.now();
  const open = await listUnconfirmed({ store, tag }, schedule);
  await store.reportAddresses.ensure(
    schedule.owner,
    open.map(({ digest }) => ({ id: ids.uuid(), digest })),
    now,
  );
  const due = { moment: now, isRequested: true, state: 'due', reason: null } as const;
  const deliveries = open.map(({ digest }) => ({ ...due, id: ids.uuid(), recipient: digest }));
  await store.deliveries.insert(schedule, deliveries, now);
};

/** Deliveries with the addresses in place of their digests. */
export const namingAddresses = async (
  { tag }: Pick<Addresses, 'tag'>,
  schedule: Schedule,
  deliveries: readonly Delivery[],
): Promise<readonly Delivery[]> => {
  const mailboxes = await mailboxesOf(tag, schedule);
  return deliveries.map((each) => {
    const mailbox = mailboxes.find((one) => isOfMailbox(one, each.recipient));
    return { ...each, recipient: mailbox?.address ?? each.recipient };
  });
};

/** Returns whom the guest may choose; null: it may send the dashboard to nobody else. */
export const listGuestRecipients =
  ({ store, reports }: Deps & { readonly store: Store }) =>
  async ({ grant }: GuestCaller, { dashboardId }: { readonly dashboardId: string }): Promise<Audience | null> => {
    const opened = await openDashboard(store, grant, dashboardId);
    assertReports(opened.embed);
    assertOn({ reports });
    return reports.findAudience(ownerOf(grant), dashboardId);
  };
