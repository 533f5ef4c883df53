// One server on the first core, wrk on the second: requests a second, and the processor time that each took.
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
const processorTime = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
};

/** One run of wrk. Throws where anything but 2xx was answered. */
export const measure = ({ child }, url, seconds, extra) => {
  const args = ['-c', '1', 'wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--latency', ...extra, url];
  const before = processorTime(child.pid);
  const text = execFileSync('taskset', args, { encoding: 'utf8' });
  const spent = processorTime(child.pid) - before;
  if (/Non-2xx|Socket errors/.test(text)) throw new Error(`wrk saw errors:\n${text}`);
  return {
    microseconds: spent / Number(/(\d+) requests in/.exec(text)[1]),
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)[1]),
    p50: milliseconds(/^\s+50%\s+(\S+)/m.exec(text)[1]),
    p99: milliseconds(/^\s+99%\s+(\S+)/m.exec(text)[1]),
  };
};

/** Each variant once to warm it, then all in turns. */
export const inTurns = (variants, rounds) => {
  for (const { once } of variants) once();
  for (let round = 0; round < rounds; round += 1) {
    for (const variant of variants) variant.results.push(variant.once());
  }
};

/** A Markdown table of medians; the ratios are against the first variant. */
export const tableOf = (variants) => {
  const figures = ({ results }, name) => median(results.map((result) => result[name]));
  const [bare] = variants;
  const lines = variants.map((variant) => {
    const of = (name) => figures(variant, name);
    const ratio = (of('perSecond') / figures(bare, 'perSecond')).toFixed(2);
    const processor = (figures(bare, 'microseconds') / of('microseconds')).toFixed(2);
    const cells = [
      Math.round(of('perSecond')),
      of('p50').toFixed(2),
      of('p99').toFixed(2),
      ratio,
      of('microseconds').toFixed(1),
      processor,
    ];
    return `| ${variant.name} | ${cells.join(' | ')} |`;
  });
  return [
    '| | requests/s | p50 ms | p99 ms | ratio | CPU µs a request | ratio |',
    '|---|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
};
