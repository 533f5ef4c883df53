/**
 * Detects which optional operations the upstream supports beyond the interface. Code that needs such an operation
 * checks for it here first, so that another maker's service gets a clear "not supported" error. A restriction that needs
 * a capability is never left out without it: the user is denied.
 */
import { type Capability, capabilityNames } from '../../model/capability.js';
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import type { WireResponse } from '../../platform/http/interface/client.js';
import type { Operation } from '../../platform/http/interface/operation.js';
import { createSingleFlight } from '../../platform/work/single-flight.js';
import {
  getDashboardContent,
  listRefusedMetrics,
  listUnreadableMetrics,
  replaceDashboardContent,
  tryDashboardContent,
} from '../../service/dashboards/contract/content.js';
import { deleteDashboard, exportEmbed, importDashboard } from '../../service/dashboards/contract/dashboards.js';
import { eraseClient } from '../../service/data-apps/contract/client-erasure.js';
import { holdClients } from '../../service/data-apps/contract/client-holds.js';
import { listDatamartColumns } from '../../service/datamarts/contract/columns.js';
import { listTenantNames } from '../../service/datamarts/contract/tenant-names.js';
import { listEmbeds } from '../../service/embeds/contract/embeds.js';
import { createGuestBoard } from '../../service/guest/contract/own-boards.js';
import { listGuestTokens, revokeGuestTokens } from '../../service/guest-tokens/contract/admin.js';
import { createGuestToken } from '../../service/guest-tokens/contract/guest-tokens.js';
import { reportLogins } from '../../service/usage/contract.js';
import { isUnreachable } from './unavailable.js';

type Entry = {
  /**
   * The operation that provides the capability. `parameter` is given if only this parameter of an operation of the
   * interface provides it.
   */
  readonly operation: Operation;
  readonly parameter?: string;
  /** As `parameter`, if it is a field of `params` in the body. */
  readonly param?: string;
  /** Ends the sentence "this service cannot ...". */
  readonly does: string;
  /** Why a service can implement the interface without this capability. */
  readonly reason: string;
};

const capabilityTable: Readonly<Record<Capability, Entry>> = {
  'find-embed': {
    operation: listEmbeds,
    parameter: 'embedId',
    does: 'look up one embed by its id',
    reason: 'Services of this interface list embeds page by page.',
  },
  'delete-dashboard': {
    operation: deleteDashboard,
    does: "delete a client's dashboard",
    reason: 'The interface deletes only embeds, not the dashboard below them.',
  },
  'erase-client': {
    operation: eraseClient,
    does: 'erase all that it keeps of a client',
    reason: 'The interface deletes only embeds, and nothing else of a client.',
  },
  'fence-erasures': {
    operation: eraseClient,
    parameter: 'fence',
    does: 'refuse an erasure that another process has taken over',
    reason: 'The interface has no operation that erases a client.',
  },
  'hold-clients': {
    operation: holdClients,
    does: 'keep what is of a client beyond its time',
    reason: 'The interface says nothing of how long a service keeps something.',
  },
  'list-guest-tokens': {
    operation: listGuestTokens,
    does: 'list the guest tokens of a client',
    reason: 'The interface creates guest tokens but cannot list them.',
  },
  'find-guest-token': {
    operation: listGuestTokens,
    parameter: 'tokenDigest',
    does: 'say whether one guest token is still valid',
    reason: 'The interface has no operation about a token that was created.',
  },
  'revoke-guest-tokens': {
    operation: revokeGuestTokens,
    does: 'revoke guest tokens',
    reason: 'A guest token of the interface is valid until it expires. Keep expiryMinutes of the policy short.',
  },
  'tell-gateways-apart': {
    // Came together with the field `gateway` of the revocation.
    operation: listGuestTokens,
    parameter: 'tokenDigest',
    does: "revoke one gateway's guest tokens alone",
    reason: 'The interface does not say which gateway a guest token is of.',
  },
  'export-embed': {
    operation: exportEmbed,
    does: 'export the dashboard of an embed as a file',
    reason: 'The interface imports files, but has no operation that exports one.',
  },
  'import-dashboard': {
    operation: importDashboard,
    does: 'import a file as a dashboard of the organization',
    reason: 'The interface imports a file only into a new dashboard of one client.',
  },
  'read-content': {
    operation: getDashboardContent,
    does: 'return the content of a dashboard with its digest',
    reason: 'The interface has no operation that shows what is on a dashboard.',
  },
  'replace-content': {
    operation: replaceDashboardContent,
    does: "replace the content of a client's dashboard",
    reason: 'The interface creates dashboards but cannot change their content.',
  },
  'copy-settings': {
    operation: getDashboardContent,
    parameter: 'with',
    does: "replace the settings of a client's dashboard together with its content",
    reason: 'The interface changes settings and content in separate calls, so neither is guarded against the other.',
  },
  'try-content': {
    operation: tryDashboardContent,
    does: "run metrics for a client before they are on the client's dashboard",
    reason: 'The interface queries only metrics that are stored.',
  },
  'list-unreadable-metrics': {
    operation: listUnreadableMetrics,
    does: 'list the metrics of a template that read a table whose rows belong to nobody',
    reason: 'The interface says so only when a metric is queried.',
  },
  'list-refused-metrics': {
    operation: listRefusedMetrics,
    does: 'list the metrics that a restriction closes',
    reason: 'The interface says so only when a metric is queried.',
  },
  'list-columns': {
    operation: listDatamartColumns,
    does: 'list the columns of a datamart for an API key',
    reason: 'The interface lists datamarts for service tokens alone.',
  },
  'list-tenant-names': {
    operation: listTenantNames,
    does: 'say which clients there are, and list their names',
    reason: 'The interface knows clients by their ids alone.',
  },
  'guest-boards': {
    operation: createGuestBoard,
    does: 'keep own dashboards of users',
    reason: 'The interface has dashboards of the host only.',
  },
  'column-rules': {
    operation: createGuestToken,
    param: 'maskColumns',
    does: 'hide and mask columns',
    reason: 'A guest token of the interface restricts rows, not columns.',
  },
  quotas: {
    operation: createGuestToken,
    param: 'quota',
    does: 'limit what a tenant uses',
    reason: 'A guest token of the interface has no limit.',
  },
  'count-logins': {
    operation: reportLogins,
    does: 'count logins at a gateway',
    reason: 'The interface does not say what was used.',
  },
};

export type Capabilities = {
  /**
   * Whether the upstream has the capability. False also if that cannot be determined now, so the caller needs an
   * alternative.
   */
  readonly supports: (name: Capability) => Promise<boolean>;
  /**
   * For callers without an alternative. Throws NOT_SUPPORTED if the capability is missing, or UPSTREAM_UNAVAILABLE if
   * that cannot be determined now.
   */
  readonly requireCapability: (name: Capability) => Promise<void>;
};

const createAsking = (known: () => Promise<ReadonlySet<Capability>>): Capabilities => ({
  supports: async (name) => {
    try {
      return (await known()).has(name);
    } catch (error) {
      if (isUnreachable(error)) return false;
      throw error;
    }
  },
  requireCapability: async (name) => {
    if ((await known()).has(name)) return;
    const { does, reason } = capabilityTable[name];
    throw new Refusal(
      'NOT_SUPPORTED',
      `Not supported here: the analytics service behind this gateway cannot ${does}. ${reason} If it can, name "${name}" in gateway.upstream.capabilities.`,
    );
  },
});

/**
 * Returns a fixed set of capabilities: those that an operator listed, all for the built-in service in this process, or
 * none.
 */
export const fixedCapabilities = (names: readonly Capability[]): Capabilities => {
  const known = Promise.resolve(new Set(names));
  return createAsking(() => known);
};

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;

const paramsPath = ['requestBody', 'content', 'application/json', 'schema', 'properties', 'params', 'properties'];

const isDocumented = (document: unknown, { operation, parameter, param }: Entry): boolean => {
  const [binding] = operation.bindings;
  if (binding === undefined) return false;
  const written = member(member(member(document, 'paths'), binding.path), binding.method.toLowerCase());
  if (written === undefined) return false;
  if (param !== undefined) return member(paramsPath.reduce(member, written), param) !== undefined;
  const parameters = member(written, 'parameters');
  return (
    parameter === undefined || (Array.isArray(parameters) && parameters.some((p) => member(p, 'name') === parameter))
  );
};

/**
 * Returns the capabilities that a service's OpenAPI document describes. Returns none unless the document is
 * Guestlist's: in another maker's service the same path can have another meaning, and some of these operations delete
 * data.
 */
const documentedCapabilities = (document: unknown): ReadonlySet<Capability> =>
  member(member(document, 'info'), 'title') === 'Guestlist'
    ? new Set(capabilityNames.filter((name) => isDocumented(document, capabilityTable[name])))
    : new Set();

const maxAgeMs = 600_000;

/**
 * Reads the capabilities from the service's document at first use, and again every ten minutes, since a service can be
 * upgraded.
 */
export const discoverCapabilities = (readDocument: () => Promise<WireResponse>, clock: Clock): Capabilities => {
  let known: ReadonlySet<Capability> | undefined;
  let readAtMs = 0;
  const flight = createSingleFlight<ReadonlySet<Capability>>();
  return createAsking(async () => {
    const nowMs = clock.now().getTime();
    if (known !== undefined && nowMs - readAtMs < maxAgeMs) return known;
    return flight('document', async () => {
      const { status, body } = await readDocument();
      // A service without a document is not Guestlist. If the service fails, `readDocument` throws.
      known = documentedCapabilities(status === 200 ? body : undefined);
      readAtMs = nowMs;
      return known;
    });
  });
};
