import { jsonLanguage } from '@codemirror/lang-json';

/** A place in the JSON of a loop's steps. */
export type JsonPlace = {
  /** The ids of the steps around it, the outermost first. */
  ids: string[];
  /** The language of the text that it is in, and where that text begins; null: not in a script or an expression. */
  code: { language: 'lua' | 'cel'; from: number } | null;
};

type SyntaxNode = ReturnType<ReturnType<typeof jsonLanguage.parser.parse>['resolve']>;

const CODE_FIELDS: Readonly<Record<string, 'lua' | 'cel'>> = { script: 'lua', expression: 'cel' };

/** Returns where `at` is in the JSON of a list of steps, which need not be finished. */
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

/** A string that is still open is no node of the tree: it begins at the quote behind the colon. */
function codeIn(text: string, property: SyntaxNode, at: number): JsonPlace['code'] {
  const language = CODE_FIELDS[nameOf(text, property)];
  const name = property.getChild('PropertyName');
  if (language === undefined || name === null) return null;
  const opening = /^\s*:\s*"/.exec(text.slice(name.to, at));
  return opening === null ? null : { language, from: name.to + opening[0].length };
}

/** Returns the inner text of a JSON string with a blank for each escape such as `\n`, so that nothing moves. */
export function withoutEscapes(inner: string): string {
  return inner.replace(/\\./g, '  ');
}
