import type { FaultOf } from '../../connections/driver-faults.js';

const unknownName = /^(Binder Error: (Referenced column|Table .* does not have a column)|Catalog Error: Table)/;

/** The driver gives its errors no code: the kind is in the first words of the text. Nothing of a file in this process passes. */
export const faultOf: FaultOf = (cause) => {
  if (!(cause instanceof Error)) return undefined;
  if (unknownName.test(cause.message)) return 'names';
  return /^(Binder|Catalog) Error:/.test(cause.message) ? 'statement' : undefined;
};
