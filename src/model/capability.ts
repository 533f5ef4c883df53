/** Names of what a service may support in addition to the interface. gateway/capabilities.ts describes each one. */
export const capabilityNames = [
  'find-embed',
  'delete-dashboard',
  'erase-client',
  'fence-erasures',
  'list-guest-tokens',
  'find-guest-token',
  'revoke-guest-tokens',
  'tell-gateways-apart',
  'export-embed',
  'import-dashboard',
  'read-content',
  'replace-content',
  'copy-settings',
  'try-content',
  'list-unreadable-metrics',
  'list-refused-metrics',
  'list-columns',
  'list-tenant-names',
  'guest-boards',
  'column-rules',
] as const;
export type Capability = (typeof capabilityNames)[number];
