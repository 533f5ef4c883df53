/** The thread that reads the texts of one policy (reading.ts starts it). */
import { parentPort, workerData } from 'node:worker_threads';
import { type PolicyDocuments, readDocuments } from './load.js';
import type { HandedReading, ReadingWork } from './reading.js';
import { PolicyFaults } from './source.js';
import { keptTexts, markOf, type PolicyTexts, readPolicyTexts } from './texts.js';

const { from, unless } = workerData as ReadingWork;

// The parser makes an error for each fault of the syntax, and each would keep its stack.
Error.stackTraceLimit = 0;

type Placed = Pick<PolicyDocuments['own'], 'source'> & { readonly document: unknown };

const handedFile = ({ document, source: { file, text, places } }: Placed) => ({
  ...{ file, text, places },
  content: JSON.stringify(document),
});

const handed = ({
  own,
  beside,
  preset,
  digests: { digest, meaning },
}: PolicyDocuments): HandedReading['documents'] => ({
  ...{ digest, meaning },
  files: [handedFile(own), ...beside.map(handedFile)],
  preset: preset === null ? null : handedFile(preset),
});

const read = (texts: PolicyTexts): Pick<HandedReading, 'documents' | 'faults'> => {
  try {
    return { documents: handed(readDocuments(texts)), faults: [] };
  } catch (error) {
    if (!(error instanceof PolicyFaults)) throw error;
    return { documents: null, faults: error.faults };
  }
};

const texts = typeof from === 'string' ? readPolicyTexts(from) : keptTexts(from);
const mark = markOf(texts);
const outcome = mark === unless ? { documents: null, faults: [] } : read(texts);
const { files = [], preset = null } = outcome.documents ?? {};
const rows = [...files, ...(preset === null ? [] : [preset])].flatMap(({ places }) =>
  places === null ? [] : [places.rows.buffer],
);
parentPort?.postMessage({ mark, watched: texts.watched, ...outcome } satisfies HandedReading, rows);
