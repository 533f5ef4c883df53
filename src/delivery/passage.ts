/**
 * By whose right a message is read and where it goes, at the moment at which it leaves. A message to others needs two
 * rights: its maker's, to send the dashboard to others; and its recipient's own, by which it is read.
 */
import { randomUUID } from 'node:crypto';
import { isSameJson } from '../model/canonical-json.js';
import type { GuestCaller } from '../model/guest/caller.js';
import type { Clock, Tag } from '../model/ports.js';
import { allows, readAddress } from '../model/schedule/address.js';
import { isOfHost, readerOf, tenantRecipient } from '../model/schedule/host-schedule.js';
import type { FindReportRight, IsTenantActive, ListTenantUsers, ReportRight } from '../model/schedule/open-report.js';
import {
  type Audience,
  everyone,
  findMailbox,
  isNamed,
  isOfMailbox,
  type KnownAddress,
  listMailboxes,
  type Mailbox,
  mayAsk,
  type Recipients,
} from '../model/schedule/recipients.js';
import type { ClaimedDelivery, Schedule, ScheduleOwner } from '../model/schedule/schedule.js';
import type { Store } from '../service/store/store.js';
import { addressOf, type MailSetup, noWay, wayOf } from './mail-setup.js';
import type { FindRecipients, Granted, Refused } from './sender.js';

export type Passages = {
  readonly setup: MailSetup;
  readonly store: Pick<Store, 'dashboards' | 'schedules' | 'reportAddresses'>;
  /** Reads whose token it is. Rejects if it holds no longer. */
  readonly authenticate: (token: string) => Promise<GuestCaller>;
  readonly findReportRight: FindReportRight;
  readonly listTenantUsers: ListTenantUsers;
  readonly isTenantActive: IsTenantActive;
  /** The data app of the policy in force: the gateway knows the users of no other one. */
  readonly findDataAppId: () => Promise<string>;
  /** The id that the gateway gives a tenant's copy of a template. */
  readonly copyIdOf: (templateName: string, clientId: string) => string;
};

/** With what addresses without an account are recognized. */
export type Addresses = { readonly tag: Tag; readonly clock: Clock };

/** By whose right a message is read, and where it goes. */
export type Passage = {
  readonly right: ReportRight;
  readonly reader: ScheduleOwner;
  readonly to: Granted['to'];
  /** The address that must be confirmed first. */
  readonly asks?: KnownAddress;
};

const isOf = ({ grant }: GuestCaller, owner: ScheduleOwner): boolean =>
  grant.dataAppId === owner.dataAppId &&
  grant.clientId === owner.clientId &&
  grant.userIdentifier === owner.userIdentifier;

type Finding = Pick<Passages, 'authenticate' | 'findReportRight'>;

/** The gateway knows users of one data app. A guest of another one can bear the same names, and has no right here. */
export const findOwnRight = async (
  { authenticate, findReportRight }: Finding,
  owner: ScheduleOwner,
  requestId: string,
): Promise<ReportRight | null> => {
  const right = await findReportRight(owner, requestId);
  return right !== null && isOf(await authenticate(right.token), owner) ? right : null;
};

/** Whom this user may send the dashboard to now; null: to nobody else. */
export const findAudience = async (
  passages: Passages,
  owner: ScheduleOwner,
  openedId: string,
): Promise<Audience | null> => {
  const right = await findOwnRight(passages, owner, randomUUID());
  const domains = right?.scheduling.get(openedId);
  if (domains === undefined) return null;
  const users = await passages.listTenantUsers(owner.clientId);
  const { mail, sender } = passages.setup;
  return {
    users: users.map(({ userIdentifier, claims }) => ({
      userIdentifier,
      address: addressOf(passages.setup, { claims }) ?? null,
    })),
    roles: [...new Set(users.flatMap(({ roles }) => roles))].toSorted(),
    domains: sender === null ? [] : domains.filter((domain) => allows(mail.allowedDomains, domain)),
  };
};

type Maker = { readonly right: ReportRight; readonly domains: readonly string[] };

/** The right of the schedule's maker, if it may send the dashboard to others now. */
const findMaker = async (passages: Finding, { schedule, id }: ClaimedDelivery): Promise<Maker | null> => {
  const right = await findOwnRight(passages, schedule.owner, id);
  const domains = right?.scheduling.get(schedule.openedId);
  return right === null || domains === undefined ? null : { right, domains };
};

/** The mailbox that a delivery is for; undefined: it is for a user, or the schedule names no address of it any longer. */
const findMailboxOf = async (
  { tag }: Addresses,
  { schedule: { owner, recipients }, recipient }: ClaimedDelivery,
): Promise<Mailbox | undefined> => {
  const mailboxes = await listMailboxes(tag, owner, recipients?.addresses ?? []);
  return mailboxes.find((mailbox) => isOfMailbox(mailbox, recipient));
};

/** An address without an account gets what the maker sees, once somebody there has confirmed it. */
const findPassageOfAddress = async (
  { setup, store, clock }: Passages & Addresses,
  { schedule: { owner }, isRequested }: ClaimedDelivery,
  mailbox: Mailbox,
  { right, domains }: Maker,
): Promise<Passage | Refused> => {
  const { address } = mailbox;
  const isAllowed = [domains, setup.mail.allowedDomains].every((some) => readAddress(address, some) !== undefined);
  if (setup.sender === null || !isAllowed) return { refused: 'no-address' };
  const known = await findMailbox(store.reportAddresses.find, owner, mailbox);
  if (known === undefined) return { refused: 'not-confirmed' };
  const passage = { right, reader: owner, to: { address } };
  if (known.confirmedAt !== null) return passage;
  return isRequested && mayAsk(known, clock.now()) ? { ...passage, asks: known } : { refused: 'not-confirmed' };
};

const findPassageOfUser = async (
  passages: Passages,
  { schedule, id, recipient }: ClaimedDelivery,
  recipients: Recipients | null,
): Promise<Passage | Refused> => {
  const userIdentifier = readerOf({ schedule, recipient });
  const reader = { ...schedule.owner, userIdentifier };
  const right = await findOwnRight(passages, reader, id);
  if (right === null) return { refused: 'no-right' };
  const { roles } = right;
  if (recipients !== null && !isNamed(recipients, { userIdentifier, roles })) return { refused: 'no-right' };
  const to = wayOf(passages.setup, right, schedule);
  return to === undefined ? { refused: noWay(schedule) } : { right, reader, to };
};

/** Decides anew at each call. Rejects if it cannot be decided. */
export const findPassage = async (
  passages: Passages & Addresses,
  delivery: ClaimedDelivery,
): Promise<Passage | Refused> => {
  const { schedule, recipient } = delivery;
  const { recipients, owner, id } = schedule;
  if (recipients === null) {
    // The schedule may have lost its recipients after this delivery was planned.
    return recipient === owner.userIdentifier ? findPassageOfUser(passages, delivery, null) : { refused: 'no-right' };
  }
  const mailbox = await findMailboxOf(passages, delivery);
  const stopped = await passages.store.schedules.listStopped(id);
  if (stopped.some((one) => one === recipient || (mailbox !== undefined && isOfMailbox(mailbox, one))))
    return { refused: 'stopped' };
  // The host needs nobody's right to send. What a user may see is that user's own right, as for any other schedule.
  if (isOfHost(schedule)) return findPassageOfUser(passages, delivery, recipients);
  const maker = await findMaker(passages, delivery);
  if (maker === null) return { refused: 'no-right-to-share' };
  return mailbox === undefined
    ? findPassageOfUser(passages, delivery, recipients)
    : findPassageOfAddress(passages, delivery, mailbox, maker);
};

/** Whether the same right holds still. Throws if another one does: the report must then be read anew. */
export const isStillGood = async (
  passages: Passages & Addresses,
  delivery: ClaimedDelivery,
  before: Passage,
): Promise<boolean> => {
  const now = await findPassage(passages, delivery);
  if ('refused' in now || !isSameJson(now.to, before.to) || now.asks?.id !== before.asks?.id) return false;
  if (now.right.token !== before.right.token) throw new Error('the right changed while the report was read');
  return true;
};

/** The tenants that have a copy now, by the id that the gateway gives it; of one tenant, its users who are named. */
const findForHost = async (passages: Passages, schedule: Schedule): ReturnType<FindRecipients> => {
  const { owner, dashboardId, recipients } = schedule;
  const { store } = passages;
  // Users of this data app must not be told to the holder of another one's key.
  if (recipients === null || owner.dataAppId !== (await passages.findDataAppId())) return { refused: 'no-right' };
  if (owner.clientId === '') {
    const template = await store.dashboards.findById(dashboardId);
    const copies = await store.dashboards.listCopies(dashboardId, owner.dataAppId);
    // The policy grants this copy. Another one that the host made by hand is none of the gateway's.
    const isGranted = ({ clientId, externalDashboardId }: (typeof copies)[number]): boolean =>
      template !== undefined && externalDashboardId === passages.copyIdOf(template.externalDashboardId, clientId);
    return { tenants: copies.filter(isGranted).map(({ id, clientId }) => ({ clientId, dashboardId: id })) };
  }
  const { clientId } = owner;
  if (!(await passages.isTenantActive(clientId))) return { refused: 'tenant-suspended' };
  const users = await passages.listTenantUsers(clientId);
  const stopped = await store.schedules.listStopped(schedule.id);
  const named = users.filter((user) => isNamed(recipients, user));
  const names = new Set(named.map(({ userIdentifier }) => tenantRecipient(clientId, userIdentifier)));
  return { recipients: [...names].filter((name) => !stopped.includes(name)) };
};

/** The recipients of a schedule at this moment, without those who ended it. */
export const findRecipients = async (
  passages: Passages & Addresses,
  delivery: ClaimedDelivery,
): ReturnType<FindRecipients> => {
  const { schedule } = delivery;
  if (isOfHost(schedule)) return findForHost(passages, schedule);
  const { recipients, owner } = schedule;
  // The schedule lost its recipients after this delivery was planned.
  if (recipients === null) return { recipients: [owner.userIdentifier] };
  if ((await findMaker(passages, delivery)) === null) return { refused: 'no-right-to-share' };
  const users = await passages.listTenantUsers(owner.clientId);
  const named = users.filter((user) => isNamed(recipients, user)).map(({ userIdentifier }) => userIdentifier);
  const stopped = await passages.store.schedules.listStopped(schedule.id);
  const mailboxes = await listMailboxes(passages.tag, owner, recipients.addresses);
  const going = mailboxes.filter((mailbox) => !stopped.some((one) => isOfMailbox(mailbox, one)));
  const all = new Set([...recipients.users, ...named, ...going.map(({ digest }) => digest)]);
  return { recipients: [...all].filter((name) => name !== everyone && !stopped.includes(name)) };
};
