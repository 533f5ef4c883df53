/** Starts a browser download. Characters that file systems refuse become a dash. */
export const save = (file: Blob, name: string): void => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name.replaceAll(/[\\/:*?"<>|]+/g, '-');
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};
