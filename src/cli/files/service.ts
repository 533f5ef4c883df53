/** What the service has of the kinds that files describe. Reads only. */
import type { Call } from '../../platform/http/interface/client.js';
import { getDashboardContent } from '../../service/dashboards/contract/content.js';
import { listDashboards } from '../../service/dashboards/contract/workspace-dashboards.js';
import { listDatamarts } from '../../service/datamarts/contract/datamarts.js';
import { listDatasources } from '../../service/datasources/contract/datasources.js';
import { listEmbeds } from '../../service/embeds/contract/embeds.js';
import { listWorkspaces } from '../../service/workspaces/contract.js';
import { type StoredEmbeds, storedEmbeds } from './embeds.js';
import { type DatamartFile, listedDatamart, type StoredDashboard, storedDashboard } from './formats.js';
import { readStoredPolicy, type StoredPolicy } from './policies.js';

/**
 * The dashboards are those of the organization: copies belong to clients, and no file describes them. `embeds` is
 * undefined without the API key of a data app. `policy` is undefined where no configuration says where it is.
 */
export type Stored = {
  readonly datasources: readonly string[];
  readonly workspaces: readonly string[];
  readonly datamarts: readonly DatamartFile[];
  readonly dashboards: readonly StoredDashboard[];
  readonly embeds: StoredEmbeds | undefined;
  readonly policy: StoredPolicy | undefined;
};

const readDashboards = async (call: Call, workspaceName: string): Promise<readonly StoredDashboard[]> => {
  const found: StoredDashboard[] = [];
  for (const { externalDashboardId } of (await call(listDashboards, { workspaceName })).data) {
    const content = await call(getDashboardContent, { workspaceName, dashboardId: externalDashboardId });
    found.push({ value: storedDashboard(workspaceName, content), content });
  }
  return found;
};

/** What the commands read and write: `dataApp` calls with an API key; `policyPath` is the configured policy. */
export type Ends = {
  readonly service: Call;
  readonly dataApp: Call | undefined;
  readonly policyPath: string | undefined;
  readonly url: string | undefined;
};

/** Reads the datamarts, the dashboards of the workspaces that `isWanted`, their embeds, and the policy. */
export const readStored = async (ends: Ends, isWanted: (workspace: string) => boolean): Promise<Stored> => {
  const { service: call, dataApp, policyPath } = ends;
  const workspaces = (await call(listWorkspaces, {})).data.map(({ name }) => name);
  const dashboards: StoredDashboard[] = [];
  for (const name of workspaces.filter(isWanted)) dashboards.push(...(await readDashboards(call, name)));
  return {
    datasources: (await call(listDatasources, {})).data.map(({ name }) => name),
    workspaces,
    datamarts: (await call(listDatamarts, { expandDetails: true })).data.map(listedDatamart),
    dashboards,
    embeds: dataApp && storedEmbeds((await dataApp(listEmbeds, {})).data, dashboards),
    policy: policyPath === undefined ? undefined : readStoredPolicy(policyPath),
  };
};
