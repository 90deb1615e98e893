/** The things that a message can mention: a workflow, a run or an agent of the project. */
export type Mention = { name: string; href: string };

const ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const PAGE = `/(?:workflows/${ID}(?:/runs/${ID})?|agents/${ID})`;
/** Names are shorter. The limit on the search for the end of a name keeps reading linear. */
const MAX_NAME = 300;
const MENTION = new RegExp(`\\[((?:\\\\.|[^\\\\[\\]]){1,${MAX_NAME}})\\]\\((${PAGE})\\)`, 'g');

/** Returns the Markdown link that represents a mention in a message; people and models read its name and id there. */
export function mentionText({ name, href }: Mention): string {
  return `[${name.replaceAll(/\s+/g, ' ').replaceAll(/[\\[\]]/g, '\\$&')}](${href})`;
}

/** Returns the text of a message in pieces: mentions, and what is between them. */
export function splitMentions(text: string): (string | Mention)[] {
  const pieces: (string | Mention)[] = [];
  let end = 0;
  for (const match of text.matchAll(MENTION)) {
    const [whole, name = '', href = ''] = match;
    if (match.index > end) pieces.push(text.slice(end, match.index));
    pieces.push({ name: name.replaceAll(/\\(.)/g, '$1'), href });
    end = match.index + whole.length;
  }
  if (end < text.length) pieces.push(text.slice(end));
  return pieces;
}

/** Returns the text with names in the place of its mentions. */
export function withoutMentions(text: string): string {
  return splitMentions(text)
    .map(piece => (typeof piece === 'string' ? piece : piece.name))
    .join('');
}
