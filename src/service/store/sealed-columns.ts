/** The sealed columns of the service's metadata. */
import { sealedColumnsOf } from '../../platform/keys/reseal.js';
import { canaryContext } from './key-canary.js';
import { recipientsContext, stateContext } from './schedules.js';
import { issuerTokenContext } from './studio-sessions.js';
import { schemaName, type Tables } from './tables.js';

export const sealedColumns = sealedColumnsOf<Tables>(schemaName, {
  'datasources.sealed': { key: ['id'], contextOf: (id = '') => id },
  'schedules.recipients': { key: ['id'], contextOf: (id = '') => recipientsContext(id) },
  'schedules.alert_state': { key: ['id'], contextOf: (id = '') => stateContext(id, null) },
  'alert_states.state': {
    key: ['schedule_id', 'recipient'],
    contextOf: (id = '', recipient = '') => stateContext(id, recipient),
  },
  'studio_sessions.issuer_token': { key: ['id'], contextOf: (id = '') => issuerTokenContext(id) },
  'sealing_canary.sealed': { key: ['is_only'], contextOf: () => canaryContext },
});
