/** What databases may lack. Refusals and docs/reference/databases.md are made from this one table. */
import type { Reason } from '../../model/reasons.js';
import type { Capabilities, Dialect } from './dialect.js';
import { refuseQuery } from './refuse.js';

export type Capability = {
  readonly what: string;
  readonly has: (dialect: Dialect) => boolean;
  /** What the engine does without it, or how the user can avoid the refusal. */
  readonly instead: { readonly way: string } | { readonly reason: Reason; readonly mend: string };
};

type Name = Exclude<keyof Capabilities, 'databaseName'> | 'barrier' | 'percentile' | 'digest';

/** @internal Tests only: the table of the reference is compared with it. */
export const capabilities = {
  hasFullJoin: {
    what: 'FULL JOIN',
    has: (dialect) => dialect.capabilities.hasFullJoin,
    instead: {
      reason: 'full-join-unsupported',
      mend: "set the relationship's join to LEFT JOIN, RIGHT JOIN or INNER JOIN in the datamart",
    },
  },
  percentile: {
    what: 'MEDIAN and PERCENTILE as aggregates',
    has: ({ percentile }) => percentile !== null,
    instead: { way: 'the rows are ranked' },
  },
  barrier: {
    what: "way to keep the host's own SQL and expressions away from other clients' rows",
    has: ({ barrier }) => barrier !== null,
    instead: { reason: 'barrier-missing', mend: 'use plain columns and measures there' },
  },
  digest: {
    what: 'SHA-256, which the mask `hash` needs',
    has: ({ masks }) => masks.digest !== null,
    instead: { reason: 'digest-missing', mend: 'use the mask last4, first or null' },
  },
  hasCorrelatedSubqueries: {
    what: 'correlated subqueries',
    has: (dialect) => dialect.capabilities.hasCorrelatedSubqueries,
    instead: { way: 'semi-joins are written with IN' },
  },
  isRightJoinSlow: {
    what: 'RIGHT JOIN that reads a client’s rows only once',
    has: (dialect) => !dialect.capabilities.isRightJoinSlow,
    instead: { way: 'the client’s rows are materialized first' },
  },
} satisfies Readonly<Record<Name, Capability>>;

type Refused = {
  [Key in keyof typeof capabilities]: (typeof capabilities)[Key]['instead'] extends { readonly mend: string }
    ? Key
    : never;
}[keyof typeof capabilities];

/** `what`: the feature in the question's words, where they differ; `where`: the part of the question that needs it. */
export const assertHas = (
  dialect: Dialect,
  name: Refused,
  { what, where }: { readonly what?: string; readonly where?: string } = {},
): void => {
  const capability = capabilities[name];
  if (capability.has(dialect)) return;
  const { mend, reason } = capability.instead;
  const begin = where === undefined ? '' : `${where}: `;
  refuseQuery(`${begin}${dialect.capabilities.databaseName} has no ${what ?? capability.what}; ${mend}.`, reason);
};
