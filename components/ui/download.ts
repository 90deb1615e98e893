/** Downloads a file that was created in the browser. */
export function download(name: string, type: string, text: string): void {
  downloadParts(name, type, [text]);
}

/** Downloads a file that consists of several texts. */
export function downloadParts(name: string, type: string, parts: readonly string[]): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The download has started by the next task, so the memory can be freed.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}

/** Returns a file name that is valid on every system: the letters and digits of the name, separated by hyphens. */
export function fileName(name: string, extension: string): string {
  const stem = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return `${stem || 'workflow'}.${extension}`;
}
