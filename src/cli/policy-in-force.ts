/** Which policy the running gateway reads, for commands that write policies. */
import { loadPolicyFile } from '../gateway/policy/load.js';
import { reloadPolicy } from '../gateway/policy/policies.js';
import { PolicyFaults } from '../gateway/policy/source.js';
import { callGateway, OperatorError } from './operator.js';

/** The digest of the policy at `path`; undefined if there is no valid one. */
const digestAt = (path: string): string | undefined => {
  try {
    return loadPolicyFile(path).digest;
  } catch (error) {
    if (error instanceof PolicyFaults) return undefined;
    throw error;
  }
};

/** Throws OperatorError if the running gateway does not read the policy at `path`. */
export const assertGatewayReads = async (path: string, url: string | undefined): Promise<void> => {
  const { file, digest } = await callGateway(reloadPolicy, {}, url);
  const written = digestAt(path);
  // A policy with faults is not in force, so its digest says nothing.
  if (file === path && (written === undefined || written === digest)) return;
  throw new OperatorError(
    `The gateway that answers reads ${file}, not ${path}, and nothing was done. Run this with its own configuration.`,
  );
};

/** Throws OperatorError if the gateway did not take the policy that was written to `path`. */
export const assertPolicyTaken = async (path: string, url: string | undefined): Promise<void> => {
  if ((await callGateway(reloadPolicy, {}, url)).digest === digestAt(path)) return;
  throw new OperatorError(`${path} is written, but the gateway did not take it. Its log says why (policy.refused).`);
};
