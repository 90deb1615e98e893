import { scriptError } from '../../runs/failure-text.ts';

/** The position of a problem in the text of a field, and the message without the position. */
export type PlacedProblem = { from: number; to: number; line: number; message: string };

/**
 * Returns the position that a problem message names ("script:3: …", "… at character 12"). Returns null if the message names none, or a
 * position that does not exist because the message describes an earlier text.
 */
export function placeProblem(text: string, message: string): PlacedProblem | null {
  const script = scriptError(message);
  if (script) return lineOf(text, script);
  const found = /^(.*) at character (\d+)$/s.exec(message);
  if (!found) return null;
  const from = Math.min(Number(found[2]) - 1, Math.max(0, text.length - 1));
  if (from < 0 || Number(found[2]) > text.length + 1) return null;
  const line = text.slice(0, from).split('\n').length;
  return { from, to: Math.min(from + 1, text.length), line, message: found[1] ?? message };
}

function lineOf(text: string, { line, text: message }: { line: number; text: string }): PlacedProblem | null {
  const lines = text.split('\n');
  const content = lines[line - 1];
  if (content === undefined) return null;
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  const indent = content.length - content.trimStart().length;
  return { from: start + indent, to: start + content.length, line, message };
}
