/**
 * Reads the files of a policy without holding up other requests. A thread of its own does what takes seconds for some
 * megabytes: syntax and schema. Expressions cannot be handed from one thread to another, so this one compiles them, in
 * slices.
 */

import { createSource, type ParsedText } from '../../platform/files/yaml-source.js';
import { inSlices } from '../../platform/work/breathe.js';
import { findThread, runThread } from '../../platform/work/thread.js';
import { compileDocuments, type PolicyDocuments } from './load.js';
import type { Policy } from './policy.js';
import type { PolicyReach } from './reach.js';
import { type PolicyFault, PolicyFaults } from './source.js';
import type { PolicyFile } from './texts.js';

export type ReadingWork = {
  /** The path of the policy file, or the texts of a policy that were kept. */
  readonly from: string | readonly PolicyFile[];
  /** The mark of texts that need not be read once more. */
  readonly unless?: string;
};

/** A file whose content, as JSON, fits its schema. */
type HandedFile = PolicyFile & Pick<ParsedText, 'places'> & { readonly content: string };

/** The thread's answer, as plain values. `documents` is null if the texts are those of `unless`, or have faults. */
export type HandedReading = {
  readonly mark: string;
  readonly watched: readonly string[];
  readonly faults: readonly PolicyFault[];
  readonly documents:
    | (Pick<Policy, 'digest' | 'meaning'> & {
        readonly files: readonly HandedFile[];
        readonly preset: HandedFile | null;
      })
    | null;
};

export type Reading = {
  /** Differs for other texts, and for other faults of reading them. */
  readonly mark: string;
  /** Each file and folder whose change can change the policy. */
  readonly watched: readonly string[];
  /** Null if the texts are those of `unless`. */
  readonly documents: PolicyDocuments | PolicyFaults | null;
};

/** Beside this file, also in a package; and below the command line's bundle. */
const places = ['reading-worker.js', 'gateway/policy/reading-worker.js'];

/** The thread has checked the content, so its type is that of its schema. */
const placed = ({ file, text, content, places: parts }: HandedFile) => {
  const document = JSON.parse(content);
  return { document, source: createSource(text, file, { content: document, problems: [], places: parts }) };
};

const documentsOf = ({ files, preset, digest, meaning }: NonNullable<HandedReading['documents']>): PolicyDocuments => {
  const [own, ...beside] = files;
  if (own === undefined) throw new Error('a policy that was read has a file');
  return {
    file: own.file,
    own: placed(own),
    beside: beside.map(placed),
    preset: preset === null ? null : placed(preset),
    digests: {
      ...{ digest, meaning },
      files: [...files, ...(preset === null ? [] : [preset])].map(({ file, text }) => ({ file, text })),
    },
  };
};

/** Reads the texts of a policy. Expressions and names are not checked yet: `compileRead` does so. */
export const readPolicy = async (work: ReadingWork): Promise<Reading> => {
  const handed = await runThread<HandedReading>(findThread(import.meta.url, places), { data: work });
  const { mark, watched, faults, documents } = handed;
  if (faults.length > 0) return { mark, watched, documents: new PolicyFaults(faults) };
  return { mark, watched, documents: documents === null ? null : documentsOf(documents) };
};

/** Compiles what was read. Rejects with PolicyFaults. */
export const compileRead = (documents: PolicyDocuments, reach: PolicyReach): Promise<Policy> =>
  inSlices(compileDocuments(documents, reach));
