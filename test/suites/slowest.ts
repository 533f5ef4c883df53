import type { Reporter, TestModule } from 'vitest/node';

const shown = 20;

/** Prints the files that took longest. */
export default class Slowest implements Reporter {
  private readonly files: { readonly ms: number; readonly name: string }[] = [];

  onTestModuleEnd(file: TestModule): void {
    const { duration, collectDuration } = file.diagnostic();
    this.files.push({ ms: duration + collectDuration, name: file.relativeModuleId });
  }

  onTestRunEnd(): void {
    if (this.files.length < shown) return;
    const slowest = this.files.toSorted((a, b) => b.ms - a.ms).slice(0, shown);
    console.log(`\nThe slowest ${shown} files, in seconds:`);
    for (const { ms, name } of slowest) console.log(`${(ms / 1000).toFixed(1).padStart(7)}  ${name}`);
  }
}
