/** What became of policy tests, as a person or a CI log reads it. */
import type { Difference, TestReport, TestResult } from './test.js';

const writeDifference = ({ field, expected, actual, because }: Difference): readonly string[] => [
  `       ${field}`,
  `         expected  ${expected}`,
  `         is        ${actual}`,
  ...because.map((line) => `                   ${line}`),
];

const writeResult = ({ name, at, differences }: TestResult): readonly string[] =>
  differences.length === 0 ? [`  ok   ${name}`] : [`  FAIL ${name} (${at})`, ...differences.flatMap(writeDifference)];

export const countFailed = ({ files }: TestReport): number =>
  files.flatMap(({ results }) => results).filter(({ differences }) => differences.length > 0).length;

/** The text, without a newline at its end. */
export const writeTestReport = (report: TestReport): string => {
  const count = report.files.flatMap(({ results }) => results).length;
  const failed = countFailed(report);
  const untried =
    report.untried.length === 0
      ? []
      : ['', 'In no test does this match:', ...report.untried.map(({ name, at }) => `  "${name}" (${at})`)];
  return [
    ...report.files.flatMap(({ file, policy, results }) => [`${file} (of ${policy})`, ...results.flatMap(writeResult)]),
    ...untried,
    '',
    `${count} ${count === 1 ? 'test' : 'tests'}, ${failed === 0 ? 'all hold' : `${failed} failed`}`,
  ].join('\n');
};
