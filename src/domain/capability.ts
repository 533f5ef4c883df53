/** What a service may do beyond the interface, by name; what each one is stands in gateway/capabilities.ts. */
export const capabilityNames = [
  'find-embed',
  'delete-dashboard',
  'erase-client',
  'list-guest-tokens',
  'revoke-guest-tokens',
  'export-embed',
  'import-dashboard',
  'read-content',
  'replace-content',
] as const;
export type Capability = (typeof capabilityNames)[number];
