import type { FaultOf } from '../../connections/driver-faults.js';

/** The driver gives its errors no code: the kind is the first word of the text. Nothing of a file in this process passes. */
export const faultOf: FaultOf = (cause) =>
  cause instanceof Error && /^(Binder|Catalog) Error:/.test(cause.message) ? 'statement' : undefined;
