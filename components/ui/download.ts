/** Hands the browser a file made here. */
export function download(name: string, type: string, text: string): void {
  downloadParts(name, type, [text]);
}

/** Hands the browser a file made here of several texts. */
export function downloadParts(name: string, type: string, parts: readonly string[]): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The download has begun by the next task; the memory is ours to free.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}

/** A file name that every system takes: letters, digits and hyphens of the workflow's name. */
export function fileName(name: string, extension: string): string {
  const stem = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return `${stem || 'workflow'}.${extension}`;
}
