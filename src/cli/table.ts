/** Columns padded to their widest cell, two spaces between. */
export const writeTable = (rows: readonly (readonly string[])[]): string => {
  const widths = rows.reduce<readonly number[]>(
    (known, row) => row.map((cell, column) => Math.max(cell.length, known[column] ?? 0)),
    [],
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};
