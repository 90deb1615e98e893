import { json } from '@codemirror/lang-json';
import { StreamLanguage, type StringStream } from '@codemirror/language';
import { lua } from '@codemirror/legacy-modes/mode/lua';
import {
  Decoration,
  type DecorationSet,
  type EditorView,
  type Extension,
  MatchDecorator,
  Prec,
  ViewPlugin,
  type ViewUpdate,
} from '@uiw/react-codemirror';

export type CodeLanguage = 'lua' | 'cel' | 'json' | 'text';

/** Returns the type of the next CEL token. An unclosed text ends at the end of its line. */
function celToken(stream: StringStream): string | null {
  if (stream.eatSpace()) return null;
  if (stream.match(/^\/\/.*/)) return 'comment';
  if (stream.match(/^[rRbB]{0,2}("(?:[^"\\]|\\.)*("|$)|'(?:[^'\\]|\\.)*('|$))/)) return 'string';
  if (stream.match(/^(0x[0-9a-fA-F]+|\d+(\.\d+)?([eE][+-]?\d+)?)u?/)) return 'number';
  if (stream.match(/^(true|false|null)\b/)) return 'atom';
  if (stream.match(/^in\b/)) return 'keyword';
  if (stream.match(/^[A-Za-z_]\w*/)) return 'variableName';
  if (stream.match(/^(&&|\|\||[=!<>]=|[-+*/%!<>?:])/)) return 'operator';
  stream.next();
  return null;
}

const CEL = StreamLanguage.define({ name: 'cel', token: celToken });
const LUA = StreamLanguage.define(lua);

const templateMarks = new MatchDecorator({
  // A text in single quotes may contain braces.
  regexp: /\{\{(?:\s*'[^'\n]*'\s*|[^{}\n]*)\}\}/g,
  decoration: Decoration.mark({ class: 'cm-template' }),
});

/** Marks every `{{…}}` in view. */
const templates = ViewPlugin.fromClass(
  class {
    marks: DecorationSet;
    constructor(view: EditorView) {
      this.marks = templateMarks.createDeco(view);
    }
    update(update: ViewUpdate) {
      this.marks = templateMarks.updateDeco(update, this.marks);
    }
  },
  { decorations: plugin => plugin.marks },
);
// Lowest precedence, so that the mark is the innermost element and its color shows within a string.
const TEMPLATES = Prec.lowest(templates);

/** Returns the highlighting of a language. Expressions have no templates. */
export function languageExtensions(language: CodeLanguage): Extension[] {
  switch (language) {
    case 'lua':
      return [LUA, TEMPLATES];
    case 'cel':
      return [CEL];
    case 'json':
      return [json(), TEMPLATES];
    case 'text':
      return [TEMPLATES];
  }
}
