/** The thread that reads the texts of one policy (reading.ts starts it). */
import { parentPort, workerData } from 'node:worker_threads';
import { type PolicyDocuments, readDocuments } from './load.js';
import type { HandedReading, ReadingWork } from './reading.js';
import { PolicyFaults } from './source.js';
import { keptTexts, markOf, type PolicyTexts, readPolicyTexts } from './texts.js';

const { from, unless } = workerData as ReadingWork;

// The parser makes an error for each fault of the syntax, and each would keep its stack.
Error.stackTraceLimit = 0;

const handed = ({ own, beside, digests: { digest, meaning } }: PolicyDocuments): HandedReading['documents'] => ({
  ...{ digest, meaning },
  files: [own, ...beside].map(({ document, source: { file, text, places } }) => ({
    ...{ file, text, places },
    content: JSON.stringify(document),
  })),
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
const rows = (outcome.documents?.files ?? []).flatMap(({ places }) => (places === null ? [] : [places.rows.buffer]));
parentPort?.postMessage({ mark, watched: texts.watched, ...outcome } satisfies HandedReading, rows);
