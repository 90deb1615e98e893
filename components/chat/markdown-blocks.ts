/**
 * Splits Markdown into blocks at blank lines. Fenced code, and a list with its indented content, are one block. Appending text changes only
 * the last block, so the blocks above need not be rendered again.
 */
export function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let block: string[] = [];
  let fence: string | null = null;
  let wasBlank = false;
  for (const line of text.split('\n')) {
    const isBlank = line.trim() === '';
    if (fence === null && wasBlank && !isBlank && !continues(block, line)) {
      blocks.push(block.join('\n').trimEnd());
      block = [];
    }
    if (fence !== null) fence = closes(line, fence) ? null : fence;
    else fence = FENCE.exec(line)?.[1] ?? null;
    wasBlank = isBlank && block.length > 0;
    if (!isBlank || block.length > 0) block.push(line);
  }
  if (block.length > 0) blocks.push(block.join('\n').trimEnd());
  return blocks;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const LIST = /^ {0,3}([-*+]|\d{1,9}[.)])( |$)/;
/**
 * Matches a line that belongs to a list above a blank line: an indented line, the next item, or a line that may become
 * an item once more is written.
 */
const CONTINUES = /^(\s|[-*+]( |$)|\d{1,9}([.)]( |$)|$))/;

const continues = ([first = '']: readonly string[], line: string): boolean => LIST.test(first) && CONTINUES.test(line);

const closes = (line: string, fence: string): boolean => {
  const mark = FENCE.exec(line)?.[1];
  return mark?.startsWith(fence) === true && line.trim() === mark;
};
