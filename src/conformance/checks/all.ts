import type { Check } from '../check.js';
import { additionChecks } from './additions.js';
import { dashboardEmbedChecks } from './dashboard-embeds.js';
import { dataAppChecks } from './data-apps.js';
import { datamartChecks } from './datamarts.js';
import { embedChecks } from './embeds.js';
import { guestTokenChecks } from './guest-token.js';
import { queryChecks } from './query.js';
import { semanticLayerChecks } from './semantic-layer.js';
import { updateDatamartChecks } from './update-datamart.js';
import { workspaceDashboardChecks } from './workspace-dashboards.js';
import { workspaceChecks } from './workspaces.js';

/** Every check, in the order of the specification. */
export const allChecks: readonly Check[] = [
  ...guestTokenChecks,
  ...embedChecks,
  ...dashboardEmbedChecks,
  ...dataAppChecks,
  ...datamartChecks,
  ...updateDatamartChecks,
  ...semanticLayerChecks,
  ...workspaceChecks,
  ...workspaceDashboardChecks,
  ...queryChecks,
  ...additionChecks,
];
