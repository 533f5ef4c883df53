// Runs one server on the first core and wrk on the second. Measures requests per second and the processor time of each.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { median } from './server.mjs';

export const connections = 32;

export const onFirstCore = (...args) => ['taskset', '-c', '0', process.execPath, ...args];

const milliseconds = (text) => {
  const [, number, unit] = /([\d.]+)(us|ms|s)/.exec(text);
  return Number(number) * { us: 0.001, ms: 1, s: 1000 }[unit];
};

/** Processor time of the server so far, user and system, in microseconds (the kernel counts in hundredths of a second). */
export const processorTime = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
};

/** One run of wrk. Throws if an answer is not 2xx. */
export const measure = ({ child }, url, seconds, extra) => {
  // Timeouts on a busy machine are no error.
  const args = [
    '-c',
    '1',
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    '30s',
    '--latency',
    ...extra,
    url,
  ];
  const before = processorTime(child.pid);
  const text = execFileSync('taskset', args, { encoding: 'utf8' });
  const spent = processorTime(child.pid) - before;
  if (/Non-2xx|Socket errors/.test(text)) throw new Error(`wrk saw errors:\n${text}`);
  return {
    processorSeconds: spent / 1e6,
    microseconds: spent / Number(/(\d+) requests in/.exec(text)[1]),
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)[1]),
    p50: milliseconds(/^\s+50%\s+(\S+)/m.exec(text)[1]),
    p99: milliseconds(/^\s+99%\s+(\S+)/m.exec(text)[1]),
  };
};

/** Waits until the server has used that much processor time, which takes longer on a busy machine. */
const warm = ({ once }, warmSeconds) => {
  for (let had = 0, times = 0; had < warmSeconds && times < 60; times += 1) had += once(1).processorSeconds;
};

/** Warms each variant for `warmSeconds` of processor time, then measures all in turns, each for `seconds`. */
export const inTurns = (variants, { rounds, seconds, warmSeconds }) => {
  for (const variant of variants) warm(variant, warmSeconds);
  for (let round = 0; round < rounds; round += 1) {
    for (const variant of variants) variant.results.push(variant.once(seconds));
  }
};

/**
 * Returns a Markdown table of medians. Each ratio is the median of the rounds' ratios to the variant `against`, or to
 * the first: whatever slows the machine slows both. `mark` is the minimum ratio required.
 */
export const tableOf = (variants) => {
  const [bare] = variants;
  const lines = variants.map((variant) => {
    const { name, results, mark, against = bare } = variant;
    const of = (figure) => median(results.map((result) => result[figure]));
    const ratioOf = (compare) => median(results.map((result, round) => compare(result, against.results[round])));
    const ratio = ratioOf((own, other) => own.perSecond / other.perSecond);
    const processor = ratioOf((own, other) => other.microseconds / own.microseconds);
    const wanted = mark === undefined ? '' : `${mark.toFixed(2)} ${Math.max(ratio, processor) >= mark ? '✓' : '✗'}`;
    const figures = [Math.round(of('perSecond')), of('p50').toFixed(2), of('p99').toFixed(2)];
    const cells = [...figures, ratio.toFixed(2), of('microseconds').toFixed(1), processor.toFixed(2), wanted];
    return `| ${name} | ${cells.join(' | ')} |`;
  });
  return [
    '| | requests/s | p50 ms | p99 ms | ratio | CPU µs a request | ratio | mark |',
    '|---|---|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
};
