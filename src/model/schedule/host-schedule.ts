/**
 * Schedules that the host makes for all tenants that have a copy of a template. They are schedules as the others are, and
 * name no tenant and no user. At each moment, a first delivery finds the tenants, one for each tenant finds its
 * recipients, and one for each recipient is a message.
 */
import type { Metric } from '../dashboard/metric.js';
import { dependsOnRows, type ToldState } from './history.js';
import { everyone } from './recipients.js';
import type { Delivery, DeliveryState, Schedule, ScheduleOwner } from './schedule.js';

export const hostOwner = (dataAppId: string): ScheduleOwner => ({ dataAppId, clientId: '', userIdentifier: '' });

export const isOfHost = ({ owner }: Pick<Schedule, 'owner'>): boolean => owner.userIdentifier === '';

/** Whether a schedule means this metric by an id. The host names metrics of the template, of which a tenant has copies. */
export const isMeant = (
  schedule: Pick<Schedule, 'owner'>,
  metricId: string,
  metric: Pick<Metric, 'metricId' | 'lineage'>,
): boolean => (isOfHost(schedule) ? metric.lineage.includes(metricId) : metric.metricId === metricId);

/** A tenant's copy of the template. */
export type TenantCopy = { readonly clientId: string; readonly dashboardId: string };

/**
 * A recipient of a host's schedule. Users of two tenants can bear one name, so it names the tenant too. With `everyone` as
 * the user, the delivery finds the recipients of the tenant.
 */
export const tenantRecipient = (clientId: string, userIdentifier: string): string =>
  JSON.stringify([clientId, userIdentifier]);

/** The user of a recipient that `tenantRecipient` made. */
export const userOfTenant = (recipient: string): string => {
  if (recipient === everyone) return everyone;
  const [, userIdentifier] = JSON.parse(recipient) as [string, string];
  return userIdentifier;
};

/** The user, or the digest of an address, that a delivery is for; `everyone` if it finds others. */
export const readerOf = ({
  schedule,
  recipient,
}: {
  readonly schedule: Pick<Schedule, 'owner'>;
  readonly recipient: string;
}): string => (isOfHost(schedule) ? userOfTenant(recipient) : recipient);

/** A host's schedule as the host sees it. */
export type HostSchedule = Schedule & {
  /** The template's external id. */
  readonly templateName: string;
  /** What became of its latest moment: the number of deliveries in each state. Null before the first one. */
  readonly last: {
    readonly moment: Date;
    readonly counts: Readonly<Partial<Record<DeliveryState, number>>>;
  } | null;
};

/** As it is told to somebody. */
export type ToldHostSchedule = Omit<HostSchedule, 'last'> & {
  readonly last: { readonly moment: Date; readonly counts: Readonly<Partial<Record<ToldState, number>>> } | null;
};

/** For a person who sees no data: how many messages left says of how many users the rows are in breach, or make a query fail. */
export const concealedHost = (schedule: HostSchedule): ToldHostSchedule => {
  const { last } = schedule;
  if (!dependsOnRows(schedule) || last === null) return schedule;
  const checked = Object.values(last.counts).reduce((sum, count) => sum + count, 0);
  return { ...schedule, last: { ...last, counts: { checked } } };
};

/** Which deliveries of a host's schedule to list. */
export type HostDeliveries = { readonly scheduleId: string; readonly clientId?: string | undefined };

/** The most deliveries that the history of a host's schedule lists. */
export const mostHostListed = 5_000;

/** The user of each delivery in place of its recipient. */
export const namingUsers = (deliveries: readonly Delivery[]): readonly Delivery[] =>
  deliveries.map((delivery) => ({ ...delivery, recipient: userOfTenant(delivery.recipient) }));
