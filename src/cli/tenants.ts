/** `guestlist tenants`: its commands. */
import { Command } from '@commander-js/extra-typings';
import { tenantsCheck, tenantsHistory } from './tenants-history.js';
import { tenantsList } from './tenants-list.js';
import { tenantsPlan } from './tenants-plan.js';
import { tenantsProvision } from './tenants-provision.js';
import { tenantsApply, tenantsRollback, tenantsRollouts } from './tenants-rollout.js';
import { tenantsErase, tenantsResume, tenantsSuspend } from './tenants-state.js';

export const tenantsCommand = new Command()
  .description('The tenants of a running gateway, and the roll-outs of templates to them.')
  .addCommand(tenantsList)
  .addCommand(tenantsProvision)
  .addCommand(tenantsHistory)
  .addCommand(tenantsCheck)
  .addCommand(tenantsPlan)
  .addCommand(tenantsApply)
  .addCommand(tenantsRollback)
  .addCommand(tenantsRollouts)
  .addCommand(tenantsSuspend)
  .addCommand(tenantsResume)
  .addCommand(tenantsErase);
