/** The faults of a policy: each names its place in a file. */
import type { FileFault, Source } from '../../platform/files/yaml-source.js';

export type PolicyFault = FileFault;

/** All faults of a policy file, in its order. */
export class PolicyFaults extends Error {
  override readonly name = 'PolicyFaults';
  constructor(readonly faults: readonly PolicyFault[]) {
    super(faults.map(({ at, message }) => `${at}: ${message}`).join('\n'));
  }
}

/** Collects faults. `list` returns them in the file's order. */
export type Faults = {
  readonly add: (offset: number, message: string) => void;
  /** Adds the faults of a file that the policy refers to at `offset`. */
  readonly addElsewhere: (offset: number, faults: readonly PolicyFault[]) => void;
  readonly list: () => readonly PolicyFault[];
};

export const createFaults = (source: Source): Faults => {
  const found: { offset: number; faults: readonly PolicyFault[] }[] = [];
  return {
    add: (offset, message) => found.push({ offset, faults: [{ at: source.at(offset), message }] }),
    addElsewhere: (offset, faults) => found.push({ offset, faults }),
    list: () => found.toSorted((left, right) => left.offset - right.offset).flatMap(({ faults }) => faults),
  };
};
