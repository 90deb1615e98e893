import { jsonLanguage } from '@codemirror/lang-json';

/** A place in the JSON of a loop's steps. */
export type JsonPlace = {
  /** The ids of the steps around the place, the outermost first. */
  ids: string[];
  /** The language and the start of the code around the place; null outside of scripts and expressions. */
  code: { language: 'lua' | 'cel'; from: number } | null;
};

type SyntaxNode = ReturnType<ReturnType<typeof jsonLanguage.parser.parse>['resolve']>;

const CODE_FIELDS: Readonly<Record<string, 'lua' | 'cel'>> = { script: 'lua', expression: 'cel' };

/** Returns the place at offset `at` in the JSON of a list of steps. The JSON may be incomplete. */
export function placeInSteps(text: string, at: number): JsonPlace {
  const ids: string[] = [];
  let field: SyntaxNode | null = null;
  for (let node: SyntaxNode | null = resolve(text, at); node !== null; node = node.parent) {
    if (node.name === 'Property') field ??= node;
    if (node.name === 'Object' && node.parent?.name === 'Array') ids.unshift(idOf(text, node));
  }
  return { ids, code: field === null ? null : codeIn(text, field, at) };
}

const resolve = (text: string, at: number): SyntaxNode => jsonLanguage.parser.parse(text).resolveInner(at, -1);

function nameOf(text: string, property: SyntaxNode): string {
  const name = property.getChild('PropertyName');
  return name === null ? '' : text.slice(name.from + 1, name.to - 1);
}

function idOf(text: string, object: SyntaxNode): string {
  const property = object.getChildren('Property').find(each => nameOf(text, each) === 'id');
  const value = property?.getChild('String');
  return value ? text.slice(value.from + 1, value.to - 1) : '';
}

/** The syntax tree has no node for an unclosed string, so the string is found by the quote after the colon. */
function codeIn(text: string, property: SyntaxNode, at: number): JsonPlace['code'] {
  const language = CODE_FIELDS[nameOf(text, property)];
  const name = property.getChild('PropertyName');
  if (language === undefined || name === null) return null;
  const opening = /^\s*:\s*"/.exec(text.slice(name.to, at));
  return opening === null ? null : { language, from: name.to + opening[0].length };
}

/**
 * Returns the inner text of a JSON string with each escape such as `\n` replaced by blanks of the same length, so that offsets stay valid.
 */
export function withoutEscapes(inner: string): string {
  return inner.replace(/\\./g, '  ');
}
