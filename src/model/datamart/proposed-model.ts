/** What is proposed for the tables of a datasource, with one way where there are several. Pure. */
import { qualifiedName, sameTable, type TableRef } from './datamart.js';
import { type Draft, draftByBestWays } from './model-draft.js';
import { clientColumnNames, type ProposedRelationship, proposeFor, type SourceProposals } from './source-proposals.js';
import type { SourceTable } from './source-schema.js';

/** The relationship to follow from a table of which several lead to a tenant: its `tenancyPath`. */
export type ProposedPath = TableRef & { readonly tenancyPath: string; readonly reason: string };

export type ProposedModel = Omit<SourceProposals, 'relationships'> & {
  /** `isSecondWay`: another proposed way leads between the same tables, and metrics over both are refused. */
  readonly relationships: readonly (ProposedRelationship & { readonly isSecondWay: boolean })[];
  /** For the most likely tenant table, as are the second ways. */
  readonly tenancyPaths: readonly ProposedPath[];
};

/** The best ways for the most likely tenants. Tables without a tenant count, since a person may share them. */
const bestWays = (
  tables: readonly SourceTable[],
  { relationships, tenantTables: [tenants], clientColumns, bridges }: SourceProposals,
): ReturnType<typeof draftByBestWays> | undefined => {
  const tenantTable = tables.find((one) => tenants !== undefined && sameTable(one, tenants));
  if (tenants === undefined || tenantTable === undefined) return undefined;
  const [[clientColumn] = []] = clientColumnNames(tenants, { clientColumns });
  const names = { name: '', tenantTable, keyColumn: tenants.keyColumn, clientColumn };
  const choices = { ...names, bridges, baseFilters: [], amounts: [] };
  const draft = draftByBestWays(tables, relationships, { ...choices, shared: [], paths: new Map() });
  const shared = withoutTenants(draft);
  return draftByBestWays(tables, relationships, { ...choices, shared, paths: draft.paths });
};

const withoutTenants = ({ leftOut }: Draft): readonly string[] =>
  leftOut.filter(({ ways }) => ways.length === 0).map(({ table }) => qualifiedName(table));

/** What is proposed. `tenants`: the table of tenants that a person chose. */
export const proposeModel = (tables: readonly SourceTable[], tenants?: SourceTable): ProposedModel => {
  const proposals = proposeFor(tables, tenants);
  const best = bestWays(tables, proposals);
  const second = new Set(best?.secondWays.map(({ relationshipName }) => relationshipName));
  return {
    ...proposals,
    relationships: proposals.relationships.map((one) => ({ ...one, isSecondWay: second.has(one.relationshipName) })),
    tenancyPaths: tables.flatMap((table): readonly ProposedPath[] => {
      const tenancyPath = best?.paths.get(qualifiedName(table));
      const { schemaName, tableName } = table;
      const reason = 'several relationships lead to a tenant: it is never empty where others are, or shorter';
      return tenancyPath === undefined ? [] : [{ schemaName, tableName, tenancyPath, reason }];
    }),
  };
};

/**
 * Returns the proposals that concern these tables: relationships and bridges with one of them at either end, and all
 * else about listed tables. Proposals are made from all tables first, because a name is clear or not only among all.
 */
export const proposalsAbout = (proposals: ProposedModel, tables: readonly TableRef[]): ProposedModel => {
  const isListed = (table: TableRef): boolean => tables.some((one) => sameTable(one, table));
  return {
    relationships: proposals.relationships.filter(({ parent, child }) => isListed(parent) || isListed(child)),
    tenantTables: proposals.tenantTables.filter(isListed),
    clientColumns: proposals.clientColumns.filter(isListed),
    bridges: proposals.bridges.filter((bridge) => isListed(bridge) || isListed(bridge.bridge)),
    baseFilters: proposals.baseFilters.filter(isListed),
    amounts: proposals.amounts.filter(isListed),
    tenancyPaths: proposals.tenancyPaths.filter(isListed),
  };
};
