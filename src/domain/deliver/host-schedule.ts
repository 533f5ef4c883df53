/**
 * Schedules that the host makes for all tenants that have a copy of a template. They are schedules as the others are, and
 * name no tenant and no user. At each moment, a first delivery finds the tenants, one for each tenant finds its
 * recipients, and one for each recipient is a message.
 */
import { everyone } from './recipients.js';
import type { Delivery, DeliveryState, Schedule, ScheduleOwner } from './schedule.js';

export const hostOwner = (dataAppId: string): ScheduleOwner => ({ dataAppId, clientId: '', userIdentifier: '' });

export const isOfHost = ({ owner }: Pick<Schedule, 'owner'>): boolean => owner.userIdentifier === '';

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

/** Which deliveries of a host's schedule to list. */
export type HostDeliveries = { readonly scheduleId: string; readonly clientId?: string | undefined };

/** The most deliveries that the history of a host's schedule lists. */
export const mostHostListed = 5_000;

/** The user of each delivery in place of its recipient. */
export const namingUsers = (deliveries: readonly Delivery[]): readonly Delivery[] =>
  deliveries.map((delivery) => ({ ...delivery, recipient: userOfTenant(delivery.recipient) }));
